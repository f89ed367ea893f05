import { useMemo } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Finding, Person } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { Fact } from "../../components/facts.tsx";
import { Name } from "../../components/name.tsx";
import { FailureNotice, Pending } from "../../components/notice.tsx";
import { Page } from "../../components/page.tsx";
import { severityColumn } from "../../components/severity.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { useAction } from "../../components/use-action.ts";
import { useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { addressOf } from "../../place.ts";
import { go } from "../../router.ts";
import { exactTime } from "../../text/dates.ts";
import { inBothForms } from "../../text/domain-name.ts";
import { count, number } from "../../text/words.ts";
import { isolated } from "../../translation.ts";
import { BreachName, exposed, firstSeen, state } from "../findings/columns.tsx";
import { TellDialog } from "../findings/dialogs.ts";
import { anyState, openOnes } from "../findings/filters.ts";
import { useHandling } from "../findings/handling.tsx";
import { enable, RemoveEmail } from "./change.tsx";
import { EditEmail } from "./edit.tsx";
import { changeInWords } from "./history.ts";
import { PersonMarks } from "./person-marks.tsx";

export function PersonPage({ id }: { id: string }) {
  const data = useData(id, (signal) => call("GET /dashboard/emails/{id}", { path: { id } }, { signal }));
  const { value, reload } = data;
  const { dialog, show } = useDialog(reload);
  const action = useAction();
  const handling = useHandling({ shown: value?.findings ?? [], filters: { emailId: id }, reload });
  return (
    <Page
      title={value === undefined ? "Address" : isolated(inBothForms(value.email))}
      actions={
        value && (
          <>
            <Button
              kind="quiet"
              onClick={() =>
                show((ends) => <RemoveEmail {...ends} email={value} onDone={() => go("/emails")} />)
              }
            >
              Remove
            </Button>
            <Button
              isBusy={action.isBusy}
              onClick={() =>
                void action.run(() => enable(value, !value.isActive)).then((isDone) => isDone && reload())
              }
            >
              {value.isActive ? "Disable" : "Enable"}
            </Button>
            <Button onClick={() => show((ends) => <EditEmail {...ends} email={value} />)}>Edit</Button>
            {value.unacknowledgedBreachCount > 0 && value.isActive && !value.owner.hasUnsubscribed && (
              <Button
                kind="primary"
                onClick={() =>
                  show((ends) => <TellDialog {...ends} of={{ emailId: id, acknowledged: openOnes }} />)
                }
              >
                Tell the owner
              </Button>
            )}
          </>
        )
      }
    >
      <FailureNotice failure={action.failure} />
      <Pending data={data} what="the address" />
      {value !== undefined && (
        <>
          <dl class="facts line">
            <Fact name="Owner">
              <Name text={value.ownerName} />
            </Fact>
            <Fact name="Team">
              <Name text={value.team?.name ?? null} />
            </Fact>
            <Fact name="State">
              {value.isActive ? "Enabled" : "Disabled"}
              {PersonMarks(value)}
            </Fact>
            <Fact name="Last checked">
              <When time={value.lastScannedAt} none="not yet" />
            </Fact>
            <Told owner={value.owner} />
          </dl>
          <OfDirectory of={value} />
          <SubAddresses of={value.subAddresses} />
          <Findings email={value} handling={handling} />
        </>
      )}
      {handling.dialog}
      {dialog}
    </Page>
  );
}

type Message = NonNullable<Person["owner"]["lastMessage"]>;

const messageStates: Record<Message["status"], string> = {
  delivered: "Told",
  pending: "On its way",
  retrying: "Not delivered yet, sent",
  "not delivered": "Not delivered",
};

/** Whether the owner was told by e-mail, and wants to be. */
function Told({ owner: { hasUnsubscribed, lastMessage } }: { owner: Person["owner"] }) {
  if (lastMessage === null && !hasUnsubscribed) return null;
  const { status, createdAt, failureReason, waitsFor } = lastMessage ?? {};
  return (
    <Fact name="Messages to the owner">
      {hasUnsubscribed && (status === undefined ? "Unsubscribed" : "Unsubscribed; ")}
      {status !== undefined && createdAt !== undefined && (
        <>
          {messageStates[status]} <When time={createdAt} />
          {status === "not delivered" && failureReason && `: ${failureReason}`}
        </>
      )}
      {waitsFor && (
        <>
          ; waits: {waitsFor.reason}, next attempt <When time={waitsFor.until} />
        </>
      )}
    </Fact>
  );
}

/** What a directory says of the person, and what followed for the address. */
function OfDirectory({ of: { email, ownerName, person, leftAt, history } }: { of: Person }) {
  if (person === null && history.length === 0) return null;
  const name = isolated(person?.displayName ?? ownerName ?? email);
  return (
    <section>
      <h2>In the directory</h2>
      {person !== null && <DirectoryFacts person={person} ownerName={ownerName} leftAt={leftAt} />}
      {history.length > 0 && (
        <ul class="muted">
          {history.map((change) => (
            <li key={change.at + change.did}>{changeInWords(change, name, person !== null)}</li>
          ))}
        </ul>
      )}
    </section>
  );
}

type DirectoryFactsProps = Pick<Person, "ownerName" | "leftAt"> & { person: NonNullable<Person["person"]> };

function DirectoryFacts({ person, ownerName, leftAt }: DirectoryFactsProps) {
  const { directory, displayName, title, department, manager, groups, passwordChangedAt } = person;
  return (
    <dl class="facts line">
      <Fact name="Directory">
        <Name text={directory} />
      </Fact>
      {displayName !== ownerName && (
        <Fact name="Person">
          <Name text={displayName} />
        </Fact>
      )}
      {leftAt !== null && (
        <Fact name="Left">
          <When time={leftAt} />
        </Fact>
      )}
      {title !== null && (
        <Fact name="Title">
          <Name text={title} />
        </Fact>
      )}
      {department !== null && (
        <Fact name="Department">
          <Name text={department} />
        </Fact>
      )}
      {manager !== null && (
        <Fact name="Manager">
          <Name text={manager} />
        </Fact>
      )}
      {groups.length > 0 && (
        <Fact name="Groups">
          <bdi>{groups.join(", ")}</bdi>
        </Fact>
      )}
      {passwordChangedAt !== null && (
        <Fact name="Password changed on">{exactTime(Date.parse(passwordChangedAt))}</Fact>
      )}
    </dl>
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

type FindingsProps = { email: Person; handling: ReturnType<typeof useHandling> };

/** Newest first. */
function Findings({ email, handling: { column, bar, failure } }: FindingsProps) {
  const { id, breachCount, lastScannedAt, findings } = email;
  const withSelection = useMemo(() => [column, ...columns], [column]);
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
        <>
          {bar}
          {failure}
          <Table caption="findings" columns={withSelection} rows={findings} />
        </>
      )}
      {breachCount > findings.length && findings.length > 0 && (
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
  severityColumn,
  {
    name: "Breach",
    kind: "main",
    cell: ({ id, breach }) => <BreachName breach={breach} href={addressOf(`/findings/${id}`)} />,
  },
  exposed,
  { ...firstSeen, isMinor: true },
  state,
];
