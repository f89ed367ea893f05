import { call } from "../../api/client.ts";
import type { Input, Reply } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { useAction } from "../../components/use-action.ts";
import { askPasskey, hasPasskeys } from "../../passkeys.ts";

type SignedIn = Reply<"POST /dashboard/sign-in">;

/** Signs in by a passkey that the browser or a device has, where it can have any. */
export function PasskeyButton({ onSignedIn }: { onSignedIn: (signedIn: SignedIn) => Promise<void> }) {
  const action = useAction();
  if (!hasPasskeys()) return null;
  const start = () =>
    action.run(async () => {
      const redeem = (body: Input<"POST /dashboard/sign-in">["body"]) =>
        call("POST /dashboard/sign-in", { body }, { whenSignedOut: "fail" });
      // Without an answer the options come instead.
      const { options } = (await redeem({})) as unknown as { options: unknown };
      await onSignedIn(await redeem({ answer: await askPasskey(options) }));
    });
  return (
    <>
      <p>
        <Button isBusy={action.isBusy} onClick={() => void start()}>
          Sign in with a passkey
        </Button>
      </p>
      {action.failure !== undefined && <FailureNotice failure={action.failure} />}
    </>
  );
}
