import { call } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { useAction } from "../../components/use-action.ts";
import { addressOf } from "../../place.ts";

/** Leads to the identity provider. Over a page that must stay as it is, it opens the sign-in page in a tab of its own. */
export function ProviderButton({ name, isOverPage }: { name: string; isOverPage: boolean }) {
  const action = useAction();
  const label = `Sign in with ${name}`;
  if (isOverPage) {
    return (
      <p>
        <a href={addressOf("/sign-in")} target="_blank" rel="noreferrer">
          {label}
        </a>
      </p>
    );
  }
  const start = () =>
    action.run(async () => {
      const { url } = await call("POST /dashboard/sign-in/provider", {}, { whenSignedOut: "fail" });
      location.assign(url);
    });
  return (
    <>
      <Button kind="primary" isBusy={action.isBusy} onClick={() => void start()}>
        {label}
      </Button>
      <FailureNotice failure={action.failure} />
    </>
  );
}
