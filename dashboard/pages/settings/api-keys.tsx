import { call } from "../../api/client.ts";
import type { ApiKey } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { now } from "../../components/clock.ts";
import { Confirm, type Ends, FormDialog, type Show, useDialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Listing, usePage } from "../../components/listing.tsx";
import { Name } from "../../components/name.tsx";
import { Empty } from "../../components/notice.tsx";
import { actionsColumn, type Column } from "../../components/table.tsx";
import { When } from "../../components/when.tsx";
import { isMember } from "../../session.ts";
import { beginOf } from "../../text/dates.ts";
import { isolated } from "../../translation.ts";
import { ShownOnce } from "./shown-once.tsx";

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
          A key lets a program read addresses, scans, findings and alerts, and with full access do everything
          that members do with them.
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
  { name: "Access", cell: ({ access }) => accessNames[access] },
  { name: "State", cell: (apiKey) => <KeyState apiKey={apiKey} /> },
  actionsColumn(
    (apiKey) =>
      stateOf(apiKey) === "valid"
        ? [{ name: "Revoke", act: () => show((ends) => <RevokeKey {...ends} apiKey={apiKey} />) }]
        : [],
    ({ label }) => label,
  ),
];

const accessNames = { full: "Full", read: "Read only" } as const;

/** What has become of a key, by the service's clock. */
export function stateOf({ revokedAt, expiresAt }: ApiKey): "valid" | "revoked" | "ended" {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && Date.parse(expiresAt) <= now() ? "ended" : "valid";
}

function KeyState({ apiKey }: { apiKey: ApiKey }) {
  const { revokedAt, expiresAt } = apiKey;
  switch (stateOf(apiKey)) {
    case "revoked":
      return (
        <>
          <span class="state off">Revoked</span> <When time={revokedAt} />
        </>
      );
    case "ended":
      return (
        <>
          <span class="state off">Ended</span> <When time={expiresAt} />
        </>
      );
    case "valid":
      return (
        <>
          <span class="state">Valid</span>
          {expiresAt !== null && (
            <small>
              ends <When time={expiresAt} />
            </small>
          )}
        </>
      );
  }
}

function CreateKey({ show, ...ends }: Ends & { show: Show }) {
  const create = async (fields: FormData): Promise<undefined> => {
    const body = {
      label: String(fields.get("label")),
      access: fields.get("access") === "read" ? ("read" as const) : ("full" as const),
      expiresAt: beginOf(String(fields.get("expiresAt")), 1),
    };
    const { key } = await call("POST /dashboard/api-keys", { body });
    show(({ onClose }) => <ShownOnce title="Your new API key" noun="key" value={key} onClose={onClose} />);
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
      <SelectField
        label="Access"
        name="access"
        choices={[
          { value: "full", label: "Full: it does what members do" },
          { value: "read", label: "Read only: it changes nothing" },
        ]}
        chosen="full"
        hint="Programs that export findings or activity only read."
      />
      <TextField
        label="Last day"
        name="expiresAt"
        type="date"
        hint="It ends with this day. Leave it empty for a key that does not end."
      />
    </FormDialog>
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
