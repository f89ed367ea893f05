import { useEffect } from "preact/hooks";
import { takeChoice } from "../../account-choice.ts";
import { call } from "../../api/client.ts";
import { Button } from "../../components/button.tsx";
import { FailureNotice } from "../../components/notice.tsx";
import { useAction } from "../../components/use-action.ts";
import { addressOf } from "../../place.ts";

type Properties = { name: string; isOverPage: boolean; begins: boolean };

/**
 * Leads to the identity provider, at once if it `begins`. Over a page that must stay as it is, it opens the
 * sign-in page in a tab of its own.
 */
export function ProviderButton({ name, isOverPage, begins }: Properties) {
  const action = useAction();
  const label = `Sign in with ${name}`;
  const start = () =>
    action.run(async () => {
      const query = { ...(takeChoice() && { chooseAccount: true }) };
      const { url } = await call("POST /dashboard/sign-in/provider", { query }, { whenSignedOut: "fail" });
      location.assign(url);
    });
  useEffect(() => {
    if (begins) void start();
  }, [begins]);
  if (isOverPage) {
    return (
      <p>
        <a href={addressOf("/sign-in")} target="_blank" rel="noreferrer">
          {label}
        </a>
      </p>
    );
  }
  return (
    <>
      <Button kind="primary" isBusy={action.isBusy} onClick={() => void start()}>
        {label}
      </Button>
      <FailureNotice failure={action.failure} />
    </>
  );
}
