import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { FormDialog } from "../../components/dialog.tsx";
import { Empty, FailureNotice } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { When } from "../../components/when.tsx";
import { createPasskey, hasPasskeys, isAtName } from "../../passkeys.ts";

type Passkey = Reply<"GET /dashboard/sessions">["passkeys"][number];

const nameOf = ({ browser = "Unknown browser" }: Passkey): string => browser;

/** What the user can sign in with beside links. */
export function Passkeys({ passkeys, reload }: { passkeys: readonly Passkey[]; reload: () => void }) {
  const [removed, setRemoved] = useState<Passkey>();
  const action = useAction();
  const add = () =>
    action.run(async () => {
      const { options } = await call("PATCH /dashboard/sessions", { body: { action: "begin" } });
      const answer = await createPasskey(options);
      await call("PATCH /dashboard/sessions", { body: { action: "add", answer } });
      say("The passkey was added.");
      reload();
    });
  const remove = async (id: string): Promise<void> => {
    await call("PATCH /dashboard/sessions", { body: { action: "remove", id } });
    say("The passkey was removed.");
    reload();
  };
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      <div class="section-head">
        <p class="prose">
          Sign in to this organization with your fingerprint, face, PIN or security key instead of a link.
        </p>
        {hasPasskeys() && (
          <Button isBusy={action.isBusy} onClick={() => void add()}>
            Add passkey
          </Button>
        )}
      </div>
      {action.failure !== undefined && <FailureNotice failure={action.failure} />}
      {passkeys.length > 0 ? (
        <Table caption="passkeys" columns={columns(setRemoved)} rows={passkeys} keyOf={({ id }) => id} />
      ) : (
        <Empty title={hasPasskeys() ? "You have no passkey here yet." : "Passkeys do not work here."}>
          {!hasPasskeys() && isAtName() && <p>They need a current browser.</p>}
          {!isAtName() && (
            <p>
              They need a name instead of an IP address: sign in at <a href={localhost()}>localhost</a>.
            </p>
          )}
        </Empty>
      )}
      {removed !== undefined && (
        <FormDialog
          title="Remove this passkey?"
          submit="Remove"
          isDanger
          onSubmit={() => remove(removed.id)}
          onClose={() => setRemoved(undefined)}
        >
          <p>
            Nobody can sign in with it any more. It was added in {nameOf(removed)},{" "}
            <When time={removed.createdAt} />. Sessions that it has begun go on until you end them; the
            browser or device may go on offering it until you delete it there.
          </p>
        </FormDialog>
      )}
    </section>
  );
}

/** The same page of a local run, at a name. */
function localhost(): string {
  const url = new URL(location.href);
  url.hostname = "localhost";
  return url.href;
}

const columns = (remove: (passkey: Passkey) => void): Column<Passkey>[] => [
  {
    name: "Added",
    kind: "main",
    width: "rest",
    cell: (passkey) => (
      <>
        {nameOf(passkey)}, <When time={passkey.createdAt} />
      </>
    ),
  },
  { name: "Last used", width: "time", cell: ({ lastUsedAt }) => <When time={lastUsedAt} none="never" /> },
  {
    name: "Actions",
    kind: "actions",
    cell: (passkey) => (
      <Button kind="quiet" aria-description={nameOf(passkey)} onClick={() => remove(passkey)}>
        Remove
      </Button>
    ),
  },
];
