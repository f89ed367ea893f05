import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { ApiKey } from "../../api/routes.ts";
import { Button, CopyButton } from "../../components/button.tsx";
import { Dialog, type Ends, FormDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Name } from "../../components/name.tsx";
import { Empty } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import type { Column } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { isAdmin, session } from "../../session.ts";

type Open = { kind: "create" } | { kind: "created"; key: string } | { kind: "revoke"; apiKey: ApiKey };

export function ApiKeys() {
  if (session.value !== undefined && !isAdmin.value) {
    return (
      <Empty title="Only admins see and create API keys.">
        <p>Ask one of them: they are listed under Members.</p>
      </Empty>
    );
  }
  return <KeyList />;
}

function KeyList() {
  const data = usePage({}, (query, signal) => call("GET /dashboard/api-keys", { query }, { signal }));
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  return (
    <>
      <div class="section-head">
        <p class="prose">
          A key lets a program do everything that members do with addresses, scans, findings and alerts.
        </p>
        {isAdmin.value && (
          <Button kind="primary" onClick={() => setOpen({ kind: "create" })}>
            Create API key
          </Button>
        )}
      </div>
      <Listing
        what="API keys"
        data={data}
        rowsOf={({ apiKeys }) => apiKeys}
        totalOf={({ total }) => total}
        keyOf={({ id }) => id}
        columns={columns((apiKey) => setOpen({ kind: "revoke", apiKey }))}
        empty={
          <Empty title="There is no API key yet.">
            <p>Create one for each program that uses the API, so that you can revoke it alone.</p>
          </Empty>
        }
      />
      {open?.kind === "create" && (
        <CreateKey
          onClose={() => setOpen((now) => (now?.kind === "created" ? now : undefined))}
          onCreated={(key) => {
            setOpen({ kind: "created", key });
            data.reload();
          }}
        />
      )}
      {open?.kind === "created" && <CreatedKey value={open.key} onClose={close} />}
      {open?.kind === "revoke" && <RevokeKey apiKey={open.apiKey} onClose={close} onDone={data.reload} />}
    </>
  );
}

const columns = (revoke: (apiKey: ApiKey) => void): Column<ApiKey>[] => [
  {
    name: "Label",
    kind: "main",
    cell: ({ label, preview }) => (
      <>
        <Name text={label} />
        <small>
          <code>{preview}…</code>
        </small>
      </>
    ),
  },
  {
    name: "Created",
    cell: ({ createdAt, createdBy }) => (
      <>
        <When time={createdAt} />
        <small>
          by <bdi>{createdBy?.label ?? "the operator"}</bdi>
        </small>
      </>
    ),
  },
  { name: "Last used", width: "time", cell: ({ lastUsedAt }) => <When time={lastUsedAt} none="never" /> },
  {
    name: "State",
    cell: ({ revokedAt }) =>
      revokedAt === null ? (
        <span class="state">Valid</span>
      ) : (
        <>
          <span class="state off">Revoked</span> <When time={revokedAt} />
        </>
      ),
  },
  {
    name: "Actions",
    kind: "actions",
    cell: (apiKey) =>
      apiKey.revokedAt === null && (
        <Button kind="quiet" aria-description={apiKey.label} onClick={() => revoke(apiKey)}>
          Revoke
        </Button>
      ),
  },
];

function CreateKey({ onClose, onCreated }: { onClose: () => void; onCreated: (key: string) => void }) {
  const create = async (fields: FormData): Promise<void> => {
    const { key } = await call("POST /dashboard/api-keys", { body: { label: String(fields.get("label")) } });
    onCreated(key);
  };
  return (
    <FormDialog title="Create API key" submit="Create API key" onSubmit={create} onClose={onClose}>
      <TextField
        label="Label"
        name="label"
        required
        maxLength={100}
        autocomplete="off"
        hint="What it is for, such as the name of the program."
      />
    </FormDialog>
  );
}

function CreatedKey({ value, onClose }: { value: string; onClose: () => void }) {
  return (
    <Dialog title="Your new API key" onClose={onClose}>
      <p>Copy it now: it is shown this once.</p>
      <p class="secret">
        <code>{value}</code> <CopyButton text={value} about="The API key" />
      </p>
      <div class="buttons">
        <Button kind="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

function RevokeKey({ apiKey, onClose, onDone }: Ends & { apiKey: ApiKey }) {
  const revoke = async (): Promise<void> => {
    await call("DELETE /dashboard/api-keys/{id}", { path: { id: apiKey.id } });
    say("The API key was revoked.");
    onDone();
  };
  return (
    <FormDialog
      title={`Revoke ${apiKey.label}?`}
      submit="Revoke"
      isDanger
      onSubmit={revoke}
      onClose={onClose}
    >
      <p>The very next request with this key is refused. This cannot be undone.</p>
    </FormDialog>
  );
}
