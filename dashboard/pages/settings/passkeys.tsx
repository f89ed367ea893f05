import { useRef } from "preact/hooks";
import { asFailure, call } from "../../api/client.ts";
import { Failure, isPassing } from "../../api/failure.ts";
import type { Reply } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Confirm, type Ends, type Show, useDialog } from "../../components/dialog.tsx";
import { Empty, FailureNotice } from "../../components/notice.tsx";
import { say } from "../../components/status.tsx";
import { actionsColumn, type Column, Table } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { When } from "../../components/when.tsx";
import {
  createPasskey,
  freshMilliseconds,
  hasPasskeys,
  isAtName,
  type NewPasskey,
} from "../passkeys/credential.ts";
import { useAhead } from "../passkeys/use-ahead.ts";

type Passkey = Reply<"GET /dashboard/sessions">["passkeys"][number];

const nameOf = ({ browser = "Unknown browser" }: Passkey): string => browser;

const newOptions = async (): Promise<unknown> => (await call("POST /dashboard/passkeys/options", {})).options;

/** Says of a passkey that the device has, and will offer, that it is not stored here. */
function notStored(failure: Failure): Failure {
  const words =
    "Your device has made a passkey, but it is not stored here, and nobody can sign in with it yet.";
  const advice = isPassing(failure) ? "" : " Add it again, or delete it on your device.";
  return new Failure(`${words} ${failure.message}${advice}`, failure);
}

export function Passkeys({ passkeys, reload }: { passkeys: readonly Passkey[]; reload: () => void }) {
  const options = useAhead(newOptions, freshMilliseconds);
  const changed = (): void => {
    // They name the passkeys that the device need not make again.
    options.forget();
    reload();
  };
  const { dialog, show } = useDialog(changed);
  const action = useAction();
  /** Made on the device, and to be stored here by the next press. */
  const made = useRef<NewPasskey>(undefined);
  const add = async (): Promise<void> => {
    made.current ??= await createPasskey(await options.get());
    try {
      await call("POST /dashboard/passkeys", { body: { answer: made.current } });
    } catch (error) {
      const failure = asFailure(error);
      if (!isPassing(failure)) {
        made.current = undefined;
        options.forget();
      }
      throw notStored(failure);
    }
    made.current = undefined;
    say("The passkey was added.");
    changed();
  };
  const prepare = (): void => void options.get().catch(() => {});
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      <div class="section-head">
        <p class="prose">
          Sign in to this organization with your fingerprint, face, PIN or security key instead of a link.
        </p>
        {hasPasskeys() && (
          <Button
            isBusy={action.isBusy}
            onPointerMove={prepare}
            onFocus={prepare}
            onClick={() => void action.run(add)}
          >
            Add passkey
          </Button>
        )}
      </div>
      <FailureNotice failure={action.failure} />
      {passkeys.length > 0 ? (
        <Table caption="passkeys" columns={columns(show)} rows={passkeys} />
      ) : (
        <Empty title={hasPasskeys() ? "You have no passkey here yet." : "Passkeys do not work here."}>
          {isAtName() ? (
            !hasPasskeys() && "They need a current browser."
          ) : (
            <>
              They need a page at a name, not at an IP address: sign in at <a href={localhost()}>localhost</a>
              .
            </>
          )}
        </Empty>
      )}
      {dialog}
    </section>
  );
}

/** The same page of a local run, at a name. */
function localhost(): string {
  const url = new URL(location.href);
  url.hostname = "localhost";
  return url.href;
}

const columns = (show: Show): Column<Passkey>[] => [
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
  actionsColumn(
    (passkey) => [
      { name: "Remove", act: () => show((ends) => <RemovePasskey {...ends} passkey={passkey} />) },
    ],
    nameOf,
  ),
];

function RemovePasskey({ passkey, ...ends }: Ends & { passkey: Passkey }) {
  const remove = async (): Promise<string> => {
    await call("DELETE /dashboard/passkeys/{id}", { path: { id: passkey.id } });
    return "The passkey was removed.";
  };
  return (
    <Confirm {...ends} title="Remove this passkey?" submit="Remove" act={remove}>
      It was added in {nameOf(passkey)}, <When time={passkey.createdAt} />. Nobody will be able to sign in
      with it. Sessions that it has begun go on until you end them, and your browser or device may still offer
      it until you delete it there.
    </Confirm>
  );
}
