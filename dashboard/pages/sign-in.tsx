import { useEffect, useState } from "preact/hooks";
import { rememberRefusal } from "../account-choice.ts";
import { access } from "../api/access.ts";
import { asFailure, call } from "../api/client.ts";
import { Button } from "../components/button.tsx";
import { CutLink } from "../components/cut-link.tsx";
import { Dialog } from "../components/dialog.tsx";
import { FailureNotice, Loading, Pending } from "../components/notice.tsx";
import { say } from "../components/status.tsx";
import { useAction } from "../components/use-action.ts";
import { useData } from "../components/use-data.ts";
import { keepsCookies } from "../cookies.ts";
import { Entrance } from "../frame.tsx";
import { addressOf } from "../place.ts";
import { place } from "../router.ts";
import { enter, session, sessionFailure } from "../session.ts";
import { isolated } from "../translation.ts";
import { CookiesNeeded } from "./sign-in/cookies-needed.tsx";
import { LinkRequest } from "./sign-in/link-request.tsx";
import { goOn, rememberPlace } from "./sign-in/next-place.ts";
import { PasskeyButton } from "./sign-in/passkey-button.tsx";
import { ProviderButton } from "./sign-in/provider-button.tsx";

type Organization = { id: number; name: string };

/** The token that a sign-in link carries behind its `#`. Programs that check links add to their ends. */
const tokenInUrl = (): string =>
  (place.value.path === "/sign-in" && /^#([\w-]+)/.exec(location.hash)?.[1]) || "";

/** What the identity provider has sent the browser back with. It is good once, and need not stay in the address. */
function takeAnswer(): string {
  const { search, pathname } = location;
  if (place.value.path !== "/sign-in" || !new URLSearchParams(search).has("state")) return "";
  history.replaceState(null, "", pathname);
  return search.slice(1);
}

/**
 * Who leads here to sign in: the provider's portal names the provider (OpenID Connect Core 1.0, 4). It does so once.
 */
function takeInitiator(): string {
  const { search, pathname } = location;
  const parameters = new URLSearchParams(search);
  const isAnswer = ["state", "code", "error"].some((name) => parameters.has(name));
  const issuer = parameters.get("iss") ?? "";
  if (place.value.path !== "/sign-in" || isAnswer || issuer === "") return "";
  history.replaceState(null, "", pathname);
  return issuer;
}

async function welcome(user: { email: string }, organization: { name: string }): Promise<void> {
  // Whoever was signed in before has nothing on this page.
  session.value = undefined;
  await enter();
  goOn();
  say(`Signed in as ${isolated(user.email)} to ${isolated(organization.name)}.`);
}

function useToken(): [string, () => void] {
  const [token, setToken] = useState(tokenInUrl);
  useEffect(() => {
    const follow = (): void => setToken(tokenInUrl());
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
  const [canSignIn] = useState(keepsCookies);
  return <Entrance title="Sign in">{canSignIn ? <SignIn /> : <CookiesNeeded />}</Entrance>;
}

function SignIn() {
  const [token, forget] = useToken();
  const [answer, setAnswer] = useState(takeAnswer);
  const [initiator] = useState(takeInitiator);
  const [isCut] = useState(
    place.value.path === "/sign-in" && token === "" && answer === "" && initiator === "",
  );
  useEffect(() => {
    if (place.value.path !== "/sign-in") rememberPlace();
  }, []);
  const isInside = initiator !== "" && access.value === "signed in";
  useEffect(() => {
    if (isInside) goOn();
  }, [isInside]);
  return (
    <>
      <SignedIn />
      {answer !== "" && <ProviderAnswer answer={answer} forget={() => setAnswer("")} />}
      {answer === "" && token === "" && <WaysIn initiator={initiator} />}
      {answer === "" && token !== "" && <Redemption key={token} token={token} forget={forget} />}
      {token === "" && isCut && <CutLink />}
    </>
  );
}

/** Whom the browser is signed in as already, if it is. */
function SignedIn() {
  if (session.value === undefined) return null;
  const { user, organization } = session.value;
  return (
    <p>
      You are signed in as <bdi>{user.email}</bdi> to <bdi>{organization.name}</bdi>.{" "}
      <a href={addressOf("/")}>Stay signed in</a>
    </p>
  );
}

/** Over the page whose session has ended: everything stays as it is until somebody signs in again. */
export function SignInDialog() {
  return (
    <Dialog title="Your session has ended" onClose={() => {}} staysOpen>
      <p>
        Nothing that you typed is lost. Sign in again in this browser, and this page continues by itself.
        {session.value !== undefined && (
          <>
            {" "}
            You were signed in as <bdi>{session.value.user.email}</bdi>.
          </>
        )}
      </p>
      <WaysIn {...(session.value && { email: session.value.user.email })} isOverPage />
    </Dialog>
  );
}

type WaysInProperties = { email?: string; isOverPage?: boolean; initiator?: string };

/** Begins with the identity provider by itself if that is the `initiator`, and nobody is signed in. */
function WaysIn({ email = "", isOverPage = false, initiator = "" }: WaysInProperties) {
  const ways = useData("", (signal) => call("GET /dashboard/sign-in", {}, { signal }));
  if (ways.value === undefined) return <Pending data={ways} what="the ways to sign in" />;
  const { mail, provider } = ways.value;
  const isInitiator =
    provider !== null && initiator.replace(/\/$/, "") === provider.issuer.replace(/\/$/, "");
  return (
    <>
      {provider !== null && (
        <ProviderButton
          name={provider.name}
          isOverPage={isOverPage}
          begins={isInitiator && access.value === "signed out"}
        />
      )}
      <PasskeyButton
        hasField={mail}
        onSignedIn={({ user, organization }) => (isOverPage ? enter() : welcome(user, organization))}
      />
      {(mail || provider === null) && (
        <LinkRequest canMail={mail} email={email} isOther={provider !== null} />
      )}
    </>
  );
}

/** Signs in by the provider's answer. The person has started that in this browser, so that no button asks again. */
function ProviderAnswer({ answer, forget }: { answer: string; forget: () => void }) {
  const action = useAction();
  useEffect(() => {
    void action.run(async () => {
      const options = { whenSignedOut: "fail" } as const;
      const route = "POST /dashboard/sign-in/provider/sessions";
      const { user, organization } = await call(route, { body: { answer } }, options).catch((error) => {
        rememberRefusal(asFailure(error));
        throw error;
      });
      await welcome(user, organization);
    });
  }, []);
  const { failure } = action;
  if (failure === undefined) return <Loading what="your account" />;
  if (failure.code === "choose_organization") {
    const { token, organizations } = failure.details as { token: string; organizations: Organization[] };
    return <Redemption token={token} choices={organizations} forget={forget} />;
  }
  return (
    <>
      <FailureNotice failure={failure} />
      <WaysIn />
    </>
  );
}

/** Opening a link changes nothing; this button redeems it, a second one if that ends another session. */
function Redemption({
  token,
  choices,
  forget,
}: {
  token: string;
  choices?: readonly Organization[];
  forget: () => void;
}) {
  const action = useAction();
  const link = useData(token, async (signal) => {
    if (choices !== undefined) return { email: undefined, organizations: choices };
    const options = { signal, whenSignedOut: "fail" } as const;
    return call("POST /dashboard/sign-in/links/lookup", { body: { token } }, options);
  });
  const redeem = (organizationId?: number) =>
    action.run(async () => {
      const body = { token, ...(organizationId !== undefined && { organizationId }) };
      const options = { whenSignedOut: "fail" } as const;
      const { user, organization } = await call("POST /dashboard/sign-in/sessions", { body }, options);
      await welcome(user, organization);
    });
  const isKnown = access.value !== "unknown" || sessionFailure.value !== undefined;
  if (!isKnown) return <Loading what="your session" />;
  const failure = action.failure ?? link.failure;
  if (failure?.code === "invalid_link") {
    return (
      <>
        <FailureNotice failure={failure} />
        <p>Links work once, and for a limited time. Ask for another:</p>
        <Button onClick={forget}>Ask for another link</Button>
      </>
    );
  }
  if (link.value === undefined) return <Pending data={link} what="the link" />;
  const { email, organizations } = link.value;
  const [only, ...others] = organizations;
  return (
    <>
      {email !== undefined && (
        <p>
          The link is for <bdi>{email}</bdi>
          {only !== undefined && others.length === 0 && (
            <>
              {" "}
              at <bdi>{only.name}</bdi>
            </>
          )}
          .
        </p>
      )}
      {others.length === 0 ? (
        <Start isBusy={action.isBusy} onStart={() => void redeem(only?.id)} />
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
      <FailureNotice failure={action.failure} />
    </>
  );
}

function Start({ isBusy, onStart }: { isBusy: boolean; onStart: () => void }) {
  const [isAsked, setIsAsked] = useState(false);
  const current = session.value?.user.email;
  if (current !== undefined && isAsked) {
    return (
      <>
        <p role="status">
          Signing in with this link signs <bdi>{current}</bdi> out in this browser.
        </p>
        <Button kind="primary" isBusy={isBusy} onClick={onStart}>
          Sign out and sign in
        </Button>
      </>
    );
  }
  return (
    <Button kind="primary" isBusy={isBusy} onClick={current === undefined ? onStart : () => setIsAsked(true)}>
      Sign in
    </Button>
  );
}
