import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Email, Finding, Person } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Name } from "../../components/name.tsx";
import { FailureNotice, Loading } from "../../components/notice.tsx";
import { Page } from "../../components/page.tsx";
import { say } from "../../components/status.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { addressOf } from "../../place.ts";
import { go } from "../../router.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { count, number } from "../../text/words.ts";
import { BreachName, exposed, severity, state } from "../findings/columns.tsx";
import { anyState, openOnes } from "../findings/filters.ts";
import { TellDialog } from "../findings/tell.tsx";
import { RemoveEmail } from "./change.tsx";
import { EditEmail } from "./edit.tsx";

/** One address, whose it is, and what was found of it. */
export function PersonPage({ id }: { id: string }) {
  const { value, failure, reload } = useData(id, (signal) =>
    call("GET /dashboard/emails/{id}", { path: { id } }, { signal }),
  );
  const [open, setOpen] = useState<"edit" | "remove" | "tell">();
  const action = useAction();
  const close = (): void => setOpen(undefined);
  const enable = (email: Email, isActive: boolean): void =>
    void action.run(async () => {
      await call("PATCH /v1/emails/{id}", { path: { id }, body: { isActive } });
      say(`${email.email} is ${isActive ? "enabled" : "disabled"}.`);
      reload();
    });
  return (
    <Page
      title={value === undefined ? "Address" : inBothForms(value.email)}
      actions={
        value && (
          <>
            <Button kind="quiet" onClick={() => setOpen("remove")}>
              Remove
            </Button>
            <Button isBusy={action.isBusy} onClick={() => enable(value, !value.isActive)}>
              {value.isActive ? "Disable" : "Enable"}
            </Button>
            <Button onClick={() => setOpen("edit")}>Edit</Button>
            {value.unacknowledgedBreachCount > 0 && value.isActive && !value.owner.hasUnsubscribed && (
              <Button kind="primary" onClick={() => setOpen("tell")}>
                Tell the owner
              </Button>
            )}
          </>
        )
      }
    >
      {failure !== undefined && <FailureNotice failure={failure} retry={reload} />}
      {action.failure !== undefined && <FailureNotice failure={action.failure} />}
      {value === undefined && failure === undefined && <Loading what="the address" />}
      {value !== undefined && (
        <>
          <dl class="facts line">
            <div>
              <dt>Owner</dt>
              <dd>
                <Name text={value.ownerName} />
              </dd>
            </div>
            <div>
              <dt>Team</dt>
              <dd>
                <Name text={value.team?.name ?? null} />
              </dd>
            </div>
            <div>
              <dt>State</dt>
              <dd>{value.isActive ? "Enabled" : "Disabled"}</dd>
            </div>
            <div>
              <dt>Last checked</dt>
              <dd>
                <When time={value.lastScannedAt} none="not yet" />
              </dd>
            </div>
            <Told owner={value.owner} />
          </dl>
          <SubAddresses of={value.subAddresses} />
          <Findings email={value} />
        </>
      )}
      {value !== undefined && open === "edit" && <EditEmail email={value} onClose={close} onDone={reload} />}
      {open === "tell" && (
        <TellDialog of={{ emailId: id, acknowledged: openOnes }} onClose={close} onDone={reload} />
      )}
      {value !== undefined && open === "remove" && (
        <RemoveEmail email={value} onClose={close} onDone={() => go("/emails")} />
      )}
    </Page>
  );
}

type Message = NonNullable<Person["owner"]["lastMessage"]>;

const messageStates: Record<Message["status"], string> = {
  delivered: "Told",
  pending: "On its way",
  retrying: "Not yet arrived, sent",
  "not delivered": "Not delivered",
};

/** Whether the owner was told by e-mail, and wants to be. */
function Told({ owner: { hasUnsubscribed, lastMessage } }: { owner: Person["owner"] }) {
  if (lastMessage === null && !hasUnsubscribed) return null;
  const { status, createdAt, waitsFor } = lastMessage ?? {};
  return (
    <div>
      <dt>Messages to the owner</dt>
      <dd>
        {hasUnsubscribed && (status === undefined ? "Unsubscribed" : "Unsubscribed; ")}
        {status !== undefined && createdAt !== undefined && (
          <>
            {messageStates[status]} <When time={createdAt} />
          </>
        )}
        {waitsFor && <small> Waits: {waitsFor.reason}</small>}
      </dd>
    </div>
  );
}

function SubAddresses({ of }: { of: { email: string; breachCount: number }[] }) {
  if (of.length === 0) return null;
  return (
    <section>
      <h2>Sub-addresses in breaches</h2>
      <ul>
        {of.map(({ email, breachCount }) => (
          <li key={email}>
            <bdi>{inBothForms(email)}</bdi>: {count(breachCount, "breach", "breaches")}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Newest first. */
function Findings({ email: { id, breachCount, lastScannedAt, findings } }: { email: Person }) {
  return (
    <section>
      <h2>Findings</h2>
      {findings.length === 0 ? (
        <p class="muted">
          {lastScannedAt === null
            ? "No scan has checked this address yet."
            : "The last check found this address in no breach."}
        </p>
      ) : (
        <Table caption="findings" columns={columns} rows={findings} keyOf={({ id }) => id} />
      )}
      {breachCount > findings.length && (
        <p>
          <a href={addressOf("/findings", { emailId: id, acknowledged: anyState })}>
            All {number(breachCount)} findings
          </a>
        </p>
      )}
    </section>
  );
}

const columns: Column<Finding>[] = [
  severity,
  {
    name: "Breach",
    kind: "main",
    cell: ({ id, breach }) => <BreachName breach={breach} href={addressOf(`/findings/${id}`)} />,
  },
  exposed,
  { name: "First seen", width: "time", cell: ({ firstDetectedAt }) => <When time={firstDetectedAt} /> },
  state,
];
