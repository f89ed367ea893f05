import { call } from "../api/client.ts";
import type { Recipient } from "../api/routes.ts";
import { Button } from "../components/button.tsx";
import { CutLink } from "../components/cut-link.tsx";
import { FailureNotice, Pending } from "../components/notice.tsx";
import { useAction } from "../components/use-action.ts";
import { useData } from "../components/use-data.ts";
import { Entrance } from "../frame.tsx";

/** Where the link at the end of each alert by e-mail leads. Whoever has the link needs no session. */
export function RecipientPage() {
  // Programs that check links add to their ends.
  const [token = ""] = /(?<=^#)[\w.-]*\w/.exec(location.hash) ?? [];
  return (
    <Entrance title="Alerts by e-mail">{token === "" ? <CutLink /> : <Choice token={token} />}</Entrance>
  );
}

/** Opening the link changes nothing, because programs open links too. */
function Choice({ token }: { token: string }) {
  const path = { token };
  const data = useData(token, (signal) => call("GET /dashboard/recipients/{token}", { path }, { signal }));
  const action = useAction();
  const choose = (how: "confirm" | "unsubscribe") =>
    void action.run(async () => {
      await call(`POST /dashboard/recipients/{token}/${how}`, { path });
      data.reload();
    });
  if (data.value === undefined) return <Pending data={data} what="what this link is for" />;
  const { consent } = data.value;
  return (
    <>
      <State recipient={data.value} />
      {consent !== "given" && (
        <Button kind="primary" isBusy={action.isBusy} onClick={() => choose("confirm")}>
          {consent === "refused" ? "Get alerts again" : "Yes, send me alerts"}
        </Button>
      )}
      {consent !== "refused" && (
        <Button isBusy={action.isBusy} onClick={() => choose("unsubscribe")}>
          Unsubscribe
        </Button>
      )}
      <FailureNotice failure={action.failure ?? data.failure} />
    </>
  );
}

function State({ recipient: { email, organization, consent } }: { recipient: Recipient }) {
  const address = <bdi>{email}</bdi>;
  const name = <bdi>{organization.name}</bdi>;
  if (consent === "refused")
    return (
      <p role="status">
        {address} gets no alerts from {name} any more.
      </p>
    );
  if (consent === "given")
    return (
      <p role="status">
        {address} gets alerts from {name}.
      </p>
    );
  return (
    <p role="status">
      {name} sends alerts of data breaches to {address}. Do you want them?
    </p>
  );
}
