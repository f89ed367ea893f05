import { useEffect, useRef, useState } from "preact/hooks";
import { asFailure, call } from "../api/client.ts";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { FailureNotice, Loading } from "../components/notice.tsx";
import { useAction } from "../components/use-action.ts";
import { useData } from "../components/use-data.ts";
import { Attribution } from "../frame.tsx";
import { place } from "../router.ts";
import { enter, session } from "../session.ts";
import { LinkRequest } from "./sign-in/link-request.tsx";
import { goOn, rememberPlace } from "./sign-in/next-place.ts";

type Organization = { id: number; name: string };

/** The token that a sign-in link carries behind its `#`. */
function useToken(): [string, () => void] {
  const read = (): string => (place.value.path === "/sign-in" ? location.hash.slice(1) : "");
  const [token, setToken] = useState(read);
  useEffect(() => {
    const follow = (): void => setToken(read());
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const forget = (): void => {
    history.replaceState(null, "", location.pathname);
    setToken("");
  };
  return [token, forget];
}

export function SignInPage() {
  const [token, forget] = useToken();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
    document.title = "Sign in · Breach Monitor";
    if (place.value.path !== "/sign-in") rememberPlace();
  }, []);
  return (
    <div class="entrance">
      <main>
        <p class="product">Breach Monitor</p>
        <h1 ref={heading} tabIndex={-1}>
          Sign in
        </h1>
        {token === "" ? <WaysIn /> : <Redemption key={token} token={token} forget={forget} />}
      </main>
      <Attribution />
    </div>
  );
}

/** Over the page whose session has ended: everything stays as it is until somebody signs in again. */
export function SignInDialog() {
  return (
    <Dialog title="Your session has ended" onClose={() => {}} staysOpen>
      <p>
        Nothing that you typed is lost. Sign in again, in this browser; then this page goes on by itself.
        {session.value !== undefined && (
          <>
            {" "}
            You were signed in as <bdi>{session.value.user.email}</bdi>.
          </>
        )}
      </p>
      <WaysIn {...(session.value && { email: session.value.user.email })} />
    </Dialog>
  );
}

function WaysIn({ email = "" }: { email?: string }) {
  const ways = useData("", (signal) => call("GET /dashboard/sign-in", {}, { signal }));
  if (ways.failure !== undefined) return <FailureNotice failure={ways.failure} retry={ways.reload} />;
  if (ways.value === undefined) return <Loading what="how you can sign in" />;
  return <LinkRequest canMail={ways.value.mail} email={email} />;
}

/** Opening a link changes nothing; this button redeems it. */
function Redemption({ token, forget }: { token: string; forget: () => void }) {
  const action = useAction();
  const [organizations, setOrganizations] = useState<readonly Organization[]>();
  const redeem = (organizationId?: number) =>
    action.run(async () => {
      try {
        const body = { token, ...(organizationId !== undefined && { organizationId }) };
        await call("POST /dashboard/sign-in/sessions", { body }, { whenSignedOut: "fail" });
      } catch (error) {
        const { code, details } = asFailure(error);
        if (code !== "choose_organization") throw error;
        setOrganizations(details.organizations as Organization[]);
        return;
      }
      await enter();
      goOn();
    });
  if (action.failure?.code === "invalid_link") {
    return (
      <>
        <FailureNotice failure={action.failure} />
        <p>Links work once, and for a limited time. Ask for another:</p>
        <Button onClick={forget}>Ask for another link</Button>
      </>
    );
  }
  return (
    <>
      {organizations === undefined ? (
        <>
          <p>The link is good. One click, and you are inside.</p>
          <Button kind="primary" isBusy={action.isBusy} onClick={() => void redeem()}>
            Sign in
          </Button>
        </>
      ) : (
        <>
          <h2>Choose an organization</h2>
          <ul class="choices">
            {organizations.map(({ id, name }) => (
              <li key={id}>
                <Button isBusy={action.isBusy} onClick={() => void redeem(id)}>
                  <bdi>{name}</bdi>
                </Button>
              </li>
            ))}
          </ul>
        </>
      )}
      {action.failure !== undefined && <FailureNotice failure={action.failure} />}
    </>
  );
}
