import { useEffect } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Input, Reply } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { useAction } from "../../components/use-action.ts";
import { askPasskey, canSuggest, hasPasskeys, nextQuestion } from "../../passkeys.ts";

type SignedIn = Reply<"POST /dashboard/sign-in">;
type Answer = Input<"POST /dashboard/sign-in">["body"]["answer"];

const redeem = (answer?: Answer): Promise<SignedIn> =>
  call("POST /dashboard/sign-in", { body: answer ? { answer } : {} }, { whenSignedOut: "fail" });

/** Without an answer the options come instead, which are good for five minutes. */
const newOptions = async (): Promise<unknown> =>
  ((await redeem()) as unknown as { options: unknown }).options;
const goodForMilliseconds = 4.5 * 60_000;

/** Resolves with the first sign of a person at the page: options cost the service a row, and many pages are open without anybody at them. */
const somebody = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    for (const event of ["pointermove", "pointerdown", "keydown"])
      addEventListener(event, () => resolve(), { once: true, signal });
  });

/** The answer of a passkey that was chosen among the suggestions of the address field; undefined: none was. */
async function suggested(left: AbortSignal): Promise<Answer> {
  if (!(await canSuggest())) return undefined;
  for (;;) {
    await somebody(left);
    const over = AbortSignal.timeout(goodForMilliseconds);
    try {
      const ending = AbortSignal.any([left, over, nextQuestion()]);
      return await askPasskey(await newOptions(), ending, "conditional");
    } catch {
      // The button asks instead, whose failures are told; or nothing can be suggested.
      if (!over.aborted || left.aborted) return undefined;
    }
  }
}

/** Signs in by a passkey that the browser or a device has, where it can have any. `hasField`: passkeys are also suggested in a field. */
export function PasskeyButton({
  onSignedIn,
  hasField,
}: {
  onSignedIn: (signedIn: SignedIn) => Promise<void>;
  hasField: boolean;
}) {
  const action = useAction();
  useEffect(() => {
    if (!hasField) return;
    const left = new AbortController();
    void suggested(left.signal).then((answer) => {
      if (answer !== undefined) void action.run(async () => onSignedIn(await redeem(answer)));
    });
    return () => left.abort();
  }, [hasField]);
  if (!hasPasskeys()) return null;
  const start = () =>
    action.run(async () => {
      const signal = nextQuestion();
      await onSignedIn(await redeem(await askPasskey(await newOptions(), signal)));
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
