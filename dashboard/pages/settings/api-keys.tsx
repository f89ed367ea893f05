import { call } from "../../api/client.ts";
import type { ApiKey } from "../../api/routes.ts";
import { Button, CopyButton } from "../../components/button.tsx";
import { Confirm, Dialog, type Ends, FormDialog, type Show, useDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/field.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Name } from "../../components/name.tsx";
import { Empty } from "../../components/notice.tsx";
import { actionsColumn, type Column } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { isMember } from "../../session.ts";
import { isolated } from "../../translation.ts";

export function ApiKeys() {
  if (isMember.value) {
    return (
      <Empty title="Only admins see and create API keys.">
        Ask one of them: they are listed under Members.
      </Empty>
    );
  }
  return <KeyList />;
}

function KeyList() {
  const data = usePage({}, (query, signal) => call("GET /dashboard/api-keys", { query }, { signal }));
  const { dialog, show } = useDialog(data.reload);
  return (
    <>
      <div class="section-head">
        <p class="prose">
          A key lets a program do everything that members do with addresses, scans, findings and alerts.
        </p>
        <Button kind="primary" onClick={() => show((ends) => <CreateKey {...ends} show={show} />)}>
          Create API key
        </Button>
      </div>
      <Listing
        what="API keys"
        data={data}
        rowsOf={({ apiKeys }) => apiKeys}
        columns={columns(show)}
        empty={
          <Empty title="There is no API key yet.">
            Create one for each program that uses the API, so that you can revoke it alone.
          </Empty>
        }
      />
      {dialog}
    </>
  );
}

const columns = (show: Show): Column<ApiKey>[] => [
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
  actionsColumn(
    (apiKey) =>
      apiKey.revokedAt === null
        ? [{ name: "Revoke", act: () => show((ends) => <RevokeKey {...ends} apiKey={apiKey} />) }]
        : [],
    ({ label }) => label,
  ),
];

function CreateKey({ show, ...ends }: Ends & { show: Show }) {
  const create = async (fields: FormData): Promise<undefined> => {
    const { key } = await call("POST /dashboard/api-keys", { body: { label: String(fields.get("label")) } });
    show(({ onClose }) => <CreatedKey value={key} onClose={onClose} />);
  };
  return (
    <FormDialog {...ends} title="Create API key" submit="Create API key" onSubmit={create}>
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
    <Dialog title="Your new API key" onClose={onClose} button="Close">
      <p>Copy it now: it is shown only once.</p>
      <p class="secret">
        <code>{value}</code> <CopyButton text={value} about="The API key" />
      </p>
    </Dialog>
  );
}

function RevokeKey({ apiKey, ...ends }: Ends & { apiKey: ApiKey }) {
  const revoke = async (): Promise<string> => {
    await call("DELETE /dashboard/api-keys/{id}", { path: { id: apiKey.id } });
    return "The API key was revoked.";
  };
  return (
    <Confirm {...ends} title={`Revoke ${isolated(apiKey.label)}?`} submit="Revoke" act={revoke}>
      From now on, requests with this key are refused. This cannot be undone.
    </Confirm>
  );
}
