import { useRef, useState } from "preact/hooks";
import type { Finding, Reply } from "../api/routes.ts";
import { Button } from "../components/button.tsx";
import { type Show, useDialog } from "../components/dialog.tsx";
import { Fact } from "../components/facts.tsx";
import { FailureNotice, NoMatch } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { SeverityMark } from "../components/severity.tsx";
import { useAction } from "../components/use-action.ts";
import { onDemand } from "../on-demand.tsx";
import { place } from "../router.ts";
import { breachDayName, dayName } from "../text/dates.ts";
import { count, number } from "../text/words.ts";
import { isolated } from "../translation.ts";
import { AssigneeValue } from "./breaches/assignee.tsx";
import { ask } from "./findings/acknowledge.tsx";
import { Advice, Description } from "./findings/details.tsx";
import { TellDialog } from "./findings/dialogs.ts";
import { filtersOf, openOnes } from "./findings/filters.ts";
import { FindingList, useFindings } from "./findings/list.tsx";
import { matchingOf } from "./findings/requests.ts";

const CommentsDialog = onDemand(async () => (await import("./breaches/comments.tsx")).CommentsDialog);
const UnwatchedOfBreach = onDemand(
  async () => (await import("./domains/unwatched-of-breach.tsx")).UnwatchedOfBreach,
);

type Breach = Finding["breach"];

export function BreachPage({ id }: { id: string }) {
  const filters = { ...filtersOf(place.value.query), breachId: id };
  const people = useFindings(filters);
  const { value } = people;
  // Findings bring their breach along, and a list without any has it, too.
  const known = useRef<Breach>(undefined);
  known.current = value?.findings[0]?.breach ?? value?.breach ?? known.current;
  const breach = known.current;
  const { unwatched = 0 } = value ?? {};
  const isReopenable =
    (value?.acknowledged ?? value?.findings.filter(({ acknowledged }) => acknowledged).length ?? 0) > 0;
  // A breach can be there with nobody but addresses that nobody watches.
  const hasPeople = value === undefined || value.breach?.lastDetectedAt !== null;
  const { dialog, show } = useDialog(people.reload);
  const action = useAction();

  const askFor = (isReopening: boolean): void =>
    void action.run(() => ask(show, matchingOf({ breachId: id }, isReopening), isReopening));
  const tell = (): void =>
    show((ends) => <TellDialog {...ends} of={{ breachId: id, acknowledged: openOnes }} />);

  return (
    <Page
      title={breach === undefined ? "Breach" : isolated(breach.title)}
      about={breach && <SeverityMark severity={breach.severity} />}
      actions={
        breach &&
        hasPeople && (
          <>
            {isReopenable && (
              <Button isBusy={action.isBusy} onClick={() => askFor(true)}>
                Reopen
              </Button>
            )}
            <Button onClick={tell}>Tell all owners</Button>
            <Button kind="primary" isBusy={action.isBusy} onClick={() => askFor(false)}>
              Acknowledge all
            </Button>
          </>
        )
      }
    >
      <FailureNotice failure={action.failure} />
      {breach !== undefined && value?.triage !== undefined && (
        <Triage breachId={id} {...value.triage} show={show} onAdded={people.reload} />
      )}
      {breach !== undefined && <About breach={breach} unwatched={hasPeople ? unwatched : 0} />}
      {value !== undefined && breach === undefined ? (
        <NoMatch title="Nobody here is in this breach." path="/breaches" all="Show all breaches" />
      ) : (
        <>
          {hasPeople && <FindingList filters={filters} data={people} heading="People" />}
          {unwatched > 0 && <UnwatchedOfBreach id={id} count={unwatched} />}
        </>
      )}
      {dialog}
    </Page>
  );
}

type TriageProps = NonNullable<Reply<"GET /dashboard/findings">["triage"]> & {
  breachId: string;
  show: Show;
  onAdded: () => void;
};

/** Who has the breach in hand, and what was said of it. */
function Triage({ breachId, assignee, comments, show, onAdded }: TriageProps) {
  const open = (): void =>
    show(({ onClose }) => <CommentsDialog breachId={breachId} onClose={onClose} onAdded={onAdded} />);
  return (
    <dl class="facts line">
      <Fact name="Assignee">
        <AssigneeValue of={{ breachId, assignee }} show={show} />
      </Fact>
      <Fact name="Comments">
        <Button kind="quiet" onClick={open}>
          {comments === 0 ? "Comment" : count(comments, "comment")}
        </Button>
      </Fact>
    </dl>
  );
}

/** On a phone the people come first. */
const isPhone = matchMedia("(max-width: 46rem)");

function About({ breach, unwatched }: { breach: Breach; unwatched: number }) {
  const [isOpen] = useState(!isPhone.matches);
  const marks = [
    !breach.isVerified && "not verified",
    breach.isSensitive && "sensitive",
    breach.isStealerLog && "stealer log",
    breach.isMalware && "malware",
    breach.isFabricated && "fabricated in part",
    breach.isSpamList && "spam list",
    breach.isRetired && "retired",
  ].filter((mark) => mark !== false);
  return (
    <>
      <dl class="facts line">
        <Fact name="Breached">{breachDayName(breach.breachDate)}</Fact>
        {breach.domain !== "" && (
          <Fact name="Site">
            <bdi>{breach.domain}</bdi>
          </Fact>
        )}
        <Fact name="At Have I Been Pwned">
          {breach.addedDate !== null && `since ${dayName(breach.addedDate.slice(0, 10))}, `}
          <a
            href={`https://haveibeenpwned.com/Breach/${encodeURIComponent(breach.name)}`}
            rel="noreferrer"
            target="_blank"
          >
            its page
          </a>
        </Fact>
        <Fact name="Accounts">{number(breach.pwnCount)}</Fact>
        {marks.length > 0 && <Fact name="Marked as">{marks.join(", ")}</Fact>}
        {unwatched > 0 && (
          <Fact name="Not watched">
            <a href="#not-watched">{count(unwatched, "address", "addresses")}</a>
          </Fact>
        )}
      </dl>
      <details class="about" open={isOpen}>
        <summary>
          <h2>What leaked, and what to do</h2>
        </summary>
        <ul class="leaked">
          {breach.dataClasses.map((dataClass) => (
            <li key={dataClass}>{dataClass}</li>
          ))}
        </ul>
        <Description breach={breach} />
        <Advice advice={breach.advice} />
      </details>
    </>
  );
}
