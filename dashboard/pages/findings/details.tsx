import { call } from "../../api/client.ts";
import type { Finding } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Dialog, useDialog } from "../../components/dialog.tsx";
import { Fact } from "../../components/facts.tsx";
import { Pending } from "../../components/notice.tsx";
import { Page } from "../../components/page.tsx";
import { SeverityMark } from "../../components/severity.tsx";
import { Status } from "../../components/status.tsx";
import { reloadAll, useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { addressOf } from "../../place.ts";
import { breachDayName } from "../../text/dates.ts";
import { textOfHtml } from "../../text/html.ts";
import { number } from "../../text/words.ts";
import { isolated } from "../../translation.ts";
import { PersonMarks } from "../emails/person-marks.tsx";
import { acknowledge, ask } from "./acknowledge.tsx";
import { FindingState, StolenLogins } from "./columns.tsx";
import { TellDialog } from "./dialogs.ts";
import { anyState } from "./filters.ts";
import { chosenOf } from "./requests.ts";

function FindingFacts({ finding }: { finding: Finding }) {
  const { breach } = finding;
  return (
    <>
      <dl class="facts">
        <Fact name="State">
          <FindingState finding={finding} />
          <Acknowledgement finding={finding} />
        </Fact>
        <Fact name="Severity">
          <SeverityMark severity={finding.severity} />
        </Fact>
        <Fact name="Owner">
          {finding.ownerName === null ? <span class="muted">not known</span> : <bdi>{finding.ownerName}</bdi>}
          {finding.team !== null && (
            <>
              , <bdi>{finding.team.name}</bdi>
            </>
          )}
          {PersonMarks(finding)}
        </Fact>
        <Fact name="Owner told">
          {finding.ownerToldAt === null ? (
            <span class="muted">not yet</span>
          ) : (
            <When time={finding.ownerToldAt} />
          )}
        </Fact>
        <Fact name="Exposed">{breach.dataClasses.join(", ") || "not known"}</Fact>
        {finding.stealerLogDomains !== undefined && (
          <Fact name="Logins stolen for">{StolenLogins(finding)}</Fact>
        )}
        <Fact name="Breached">
          {breachDayName(breach.breachDate)}
          {breach.domain !== "" && `, ${isolated(breach.domain)}`}, {number(breach.pwnCount)} accounts
        </Fact>
        <Fact name="First seen here">
          <When time={finding.firstDetectedAt} />
          {finding.isHistory && " by the first check of the address "}
          {finding.firstDetectedScanId !== null && (
            <a href={addressOf("/findings", { acknowledged: anyState, scanId: finding.firstDetectedScanId })}>
              All of that scan
            </a>
          )}
        </Fact>
        <Fact name="Last seen here">
          <When time={finding.lastSeenAt} />
        </Fact>
      </dl>
      <Description breach={breach} />
      <Advice advice={breach.advice} />
      <p class="links">
        <a href={addressOf(`/breaches/${breach.id}`)}>This breach</a>
        <a href={addressOf(`/emails/${finding.emailId}`)}>This address</a>
      </p>
    </>
  );
}

/** `onHandled`: goes on to another finding, if there is one. */
type ActionsProps = { finding: Finding; onHandled?: () => void };

function FindingActions({ finding, onHandled }: ActionsProps) {
  const { dialog, show } = useDialog(() => {
    onHandled?.();
    reloadAll();
  });
  const askFor = (isReopening: boolean): void =>
    void ask(show, chosenOf([finding], isReopening), isReopening);
  const acknowledgeAtOnce = (): void => {
    void acknowledge(show, chosenOf([finding], false));
    onHandled?.();
  };
  return (
    <>
      <Button
        aria-keyshortcuts="t"
        onClick={() => show((ends) => <TellDialog {...ends} of={[finding]} onDone={reloadAll} />)}
      >
        Tell the owner
      </Button>
      {finding.acknowledged && <Button onClick={() => askFor(true)}>Reopen</Button>}
      <Button aria-keyshortcuts="Shift+E" onClick={() => askFor(false)}>
        With a reason
      </Button>
      {!finding.acknowledged && (
        <Button kind="primary" aria-keyshortcuts="e" onClick={acknowledgeAtOnce}>
          Acknowledge
        </Button>
      )}
      {dialog}
    </>
  );
}

type DetailsProps = ActionsProps & {
  onClose: () => void;
  onPrevious?: () => void;
  onNext?: () => void;
};

export function FindingDetails({ onClose, onPrevious, onNext, ...props }: DetailsProps) {
  const { finding } = props;
  return (
    <Dialog title={titleOf(finding)} onClose={onClose} isWide isText>
      <FindingFacts finding={finding} />
      <div class="buttons">
        <Button kind="quiet" aria-keyshortcuts="k" disabled={onPrevious === undefined} onClick={onPrevious}>
          Previous
        </Button>
        <Button kind="quiet" aria-keyshortcuts="j" disabled={onNext === undefined} onClick={onNext}>
          Next
        </Button>
        <a href={addressOf(`/findings/${finding.id}`)}>Link to this finding</a>
        <span class="space" />
        <Button onClick={onClose}>Close</Button>
        <FindingActions {...props} />
      </div>
      <Status />
    </Dialog>
  );
}

const titleOf = ({ email, breach }: Finding): string => `${isolated(email)} in ${isolated(breach.title)}`;

/** A finding that was linked to: /findings/{id}. */
export function FindingPage({ id }: { id: string }) {
  const data = useData(id, (signal) => call("GET /dashboard/findings/{id}", { path: { id } }, { signal }));
  const { value } = data;
  return (
    <Page
      title={value === undefined ? "Finding" : titleOf(value)}
      actions={value && <FindingActions finding={value} />}
    >
      <Pending data={data} what="the finding" />
      {value !== undefined && (
        <div class="prose">
          <FindingFacts finding={value} />
        </div>
      )}
    </Page>
  );
}

/** What Have I Been Pwned wrote about a breach, as text. */
export function Description({ breach }: { breach: Pick<Finding["breach"], "description"> }) {
  return (
    <>
      {textOfHtml(breach.description)
        .split("\n")
        .map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
    </>
  );
}

export function Advice({ advice }: { advice: Finding["breach"]["advice"] }) {
  return (
    <section class="advice">
      <h2>What to do</h2>
      <div class="topics">
        {advice.map(({ title, steps }) => (
          <div key={title}>
            <p>
              <strong>{title}</strong>
            </p>
            <ul>
              {steps.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </section>
  );
}

function Acknowledgement({ finding }: { finding: Finding }) {
  if (!finding.acknowledged) return null;
  const { acknowledgedBy, acknowledgedByApiKey, acknowledgedAt, acknowledgeReason, endedBy } = finding;
  return (
    <>
      {!endedBy && (
        <>
          {" by "}
          <bdi>{acknowledgedBy?.label ?? `API key ${acknowledgedByApiKey?.label ?? ""}`}</bdi>
        </>
      )}
      , <When time={acknowledgedAt} />
      {acknowledgeReason && (
        <p class="typed" dir="auto">
          {endedBy && "Ended by a rule: "}
          {acknowledgeReason}
        </p>
      )}
      {endedBy && <p class="muted">If you reopen it, no rule ends it again.</p>}
    </>
  );
}
