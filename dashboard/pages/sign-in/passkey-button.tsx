import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Reply } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { useAction } from "../../components/use-action.ts";
import {
  askPasskey,
  canSuggest,
  freshMilliseconds,
  hasPasskeys,
  nextQuestion,
  type PasskeyAnswer,
} from "../passkeys/credential.ts";
import { useAhead } from "../passkeys/use-ahead.ts";

type SignedIn = Reply<"POST /dashboard/sign-in/passkeys/sessions">;

const redeem = (answer: PasskeyAnswer): Promise<SignedIn> =>
  call("POST /dashboard/sign-in/passkeys/sessions", { body: { answer } }, { whenSignedOut: "fail" });

const newOptions = async (): Promise<unknown> =>
  (await call("POST /dashboard/sign-in/passkeys/options", {}, { whenSignedOut: "fail" })).options;

/**
 * Calls at each sign of a person at the page: options cost the service a row, and many pages are open without
 * anybody at them.
 */
function whenSomebody(act: () => void, signal: AbortSignal): void {
  for (const event of ["pointermove", "pointerdown", "keydown"]) addEventListener(event, act, { signal });
}

/** The answer of a passkey that was chosen among the suggestions of the address field; undefined: none was. */
async function suggested(
  options: () => Promise<unknown>,
  left: AbortSignal,
): Promise<PasskeyAnswer | undefined> {
  for (;;) {
    await new Promise<void>((resolve) => whenSomebody(resolve, left));
    if (!(await canSuggest())) return undefined;
    const over = AbortSignal.timeout(freshMilliseconds);
    try {
      return await askPasskey(await options(), AbortSignal.any([left, over, nextQuestion()]), "conditional");
    } catch {
      // The button asks instead, whose failures are told; or nothing can be suggested.
      if (!over.aborted || left.aborted) return undefined;
    }
  }
}

/**
 * Signs in by a passkey that the browser or a device has, where it can have any. `hasField`: passkeys are
 * also suggested in a field.
 */
export function PasskeyButton({
  onSignedIn,
  hasField,
}: {
  onSignedIn: (signedIn: SignedIn) => Promise<void>;
  hasField: boolean;
}) {
  const action = useAction();
  const { get: options, forget } = useAhead(newOptions, freshMilliseconds);
  const signIn = async (answer: PasskeyAnswer): Promise<void> => {
    forget();
    await onSignedIn(await redeem(answer));
  };
  useEffect(() => {
    if (!hasPasskeys()) return;
    const left = new AbortController();
    whenSomebody(() => void options().catch(() => {}), left.signal);
    if (hasField)
      void suggested(options, left.signal).then((answer) => answer && action.run(() => signIn(answer)));
    return () => left.abort();
  }, [hasField]);
  if (!hasPasskeys()) return null;
  const start = () =>
    action.run(async () => {
      const signal = nextQuestion();
      await signIn(await askPasskey(await options(), signal));
    });
  return (
    <>
      <p>
        <Button isBusy={action.isBusy} onClick={() => void start()}>
          Sign in with a passkey
        </Button>
      </p>
      <FailureNotice failure={action.failure} />
    </>
  );
}
