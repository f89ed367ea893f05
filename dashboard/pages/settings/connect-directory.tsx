import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Directory } from "../../api/routes.ts";
import { CopyButton } from "../../components/button.tsx";
import { type Ends, FormDialog, type Show } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Pending } from "../../components/notice.tsx";
import { useData, useRepeat } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { count } from "../../text/words.ts";
import { isolated } from "../../translation.ts";
import { ShownOnce } from "./shown-once.tsx";

/** How a kind of directory is told where to send its people. */
const kinds = [
  {
    value: "entra",
    label: "Microsoft Entra ID",
    name: "Entra ID",
    steps: [
      "In the Entra admin center open Enterprise applications, and create your own application there, " +
        "outside of the gallery.",
      "Under Provisioning choose Automatic. Put the URL into Tenant URL and the token into Secret Token, " +
        "and press Test Connection.",
      "Under Users and groups assign everybody who is to be watched, and start the provisioning. Its first " +
        "cycle may take 40 minutes.",
    ],
  },
  {
    value: "okta",
    label: "Okta",
    name: "Okta",
    steps: [
      "In the admin console browse the app catalog for SCIM 2.0 Test App (OAuth Bearer Token), and add it.",
      "Under Provisioning, Integration put in the URL as base URL and the token as API token, and test them.",
      "Under Provisioning, To App enable creating, updating and deactivating users. Then assign people, and " +
        "push groups if teams come from them.",
    ],
  },
  {
    value: "scim",
    label: "Another that speaks SCIM 2.0",
    name: "Directory",
    steps: [
      "Where it is told about applications, choose SCIM 2.0 with a bearer token. Put in the URL and the token.",
      "Let it create, change and deactivate users, and groups if teams come from them.",
      "Assign everybody who is to be watched.",
    ],
  },
  {
    value: "script",
    label: "A script of our own",
    name: "Script",
    steps: [
      "Send the token with each request, as Authorization: Bearer.",
      "POST each person to /Users below the URL, with userName, displayName and emails.",
      "Who leaves gets active: false by PATCH, or DELETE.",
    ],
  },
] as const;
type Kind = (typeof kinds)[number];

/** The first of three steps: which directory, and its name. */
export function ConnectDirectory({ show, ...ends }: Ends & { show: Show }) {
  const [chosen, setChosen] = useState<Kind>(kinds[0]);
  const [typed, setTyped] = useState<string>();
  const connect = async (fields: FormData): Promise<undefined> => {
    const connected = await call("POST /dashboard/directories", {
      body: { name: String(fields.get("name")).trim() },
    });
    show(({ onClose, onDone }) => (
      <Connected
        kind={chosen}
        connected={connected}
        onClose={() => {
          onClose();
          onDone();
        }}
      />
    ));
  };
  return (
    <FormDialog {...ends} title="Connect a directory" submit="Connect" onSubmit={connect}>
      <p>Step 1 of 3. The next ones give the directory a URL and a token, and wait until it calls.</p>
      <SelectField
        label="Directory"
        name="kind"
        choices={kinds}
        chosen={chosen.value}
        onChange={(value) => setChosen(kinds.find((kind) => kind.value === value) ?? kinds[0])}
      />
      <TextField
        label="Name"
        name="name"
        required
        maxLength={100}
        value={typed ?? chosen.name}
        onInput={(event) => setTyped(event.currentTarget.value)}
        autocomplete="off"
        dir="auto"
        hint="By this name pages and the activity log speak of it."
      />
    </FormDialog>
  );
}

type ConnectedProps = {
  kind: Kind;
  connected: { id: number; name: string; url: string; token: string };
  onClose: () => void;
};

/** The other two: what the directory is told, and that it calls. */
function Connected({ kind, connected: { id, name, url, token }, onClose }: ConnectedProps) {
  return (
    <ShownOnce
      title={`Connect ${isolated(name)}`}
      noun="token"
      value={token}
      onClose={onClose}
      before={
        <>
          <p>Step 2 of 3. Give the directory this URL and this token.</p>
          <p class="secret">
            <code>{url}</code> <CopyButton text={url} about="The URL" />
          </p>
        </>
      }
    >
      <ol>
        {kind.steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p class="muted">
        The service's documentation has all steps and fields, in <code>docs/directory.md</code>.
      </p>
      <FirstRequest id={id} />
    </ShownOnce>
  );
}

/** Waits until the directory calls, and then tells what has come. Somebody is about to look at both at once. */
function FirstRequest({ id }: { id: Directory["id"] }) {
  const data = useData("", (signal) => call("GET /dashboard/directories", {}, { signal }));
  const directory = data.value?.directories.find((each) => each.id === id);
  useRepeat(true, 3, data);
  const { reload } = data;
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState === "visible") reload();
    };
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return (
    <>
      <Pending data={data} what="the directory" />
      {data.value !== undefined && (
        <p role="status">
          Step 3 of 3.{" "}
          {directory === undefined || directory.lastRequestAt === null ? (
            "Waiting for its first request. You can close this: the page goes on waiting."
          ) : (
            <>
              <strong>It called</strong> <When time={directory.lastRequestAt} />, and has brought{" "}
              {count(directory.users, "user")} so far.
            </>
          )}
        </p>
      )}
    </>
  );
}
