import { call } from "../api/client.ts";
import type { Overview } from "../api/routes.ts";
import { Fact } from "../components/facts.tsx";
import { Empty, Pending } from "../components/notice.tsx";
import { Page } from "../components/page.tsx";
import { SeverityMark, severities } from "../components/severity.tsx";
import { isRunning, StartScan } from "../components/start-scan.tsx";
import { useData, useRepeat } from "../components/use-data.ts";
import { When } from "../components/when.tsx";
import { addressOf } from "../place.ts";
import { dayName, exactTime } from "../text/dates.ts";
import { isPlotted } from "../text/months.ts";
import { ruleNames } from "../text/rules.ts";
import { count, coverageInWords, number } from "../text/words.ts";
import { isolated } from "../translation.ts";
import { assignKey } from "./breaches/assignee.tsx";
import { mostExposed } from "./emails/filters.ts";
import { BreachName } from "./findings/columns.tsx";
import { MonthPlot } from "./overview/month-plot.tsx";
import { NextStep } from "./overview/next-step.tsx";

export function OverviewPage() {
  const data = useData("", (signal) => call("GET /dashboard/overview", {}, { signal }));
  const { value, reload } = data;
  const isScanning = value?.lastScan != null && isRunning(value.lastScan);
  useRepeat(isScanning, 3, data);
  const hasEmails = value !== undefined && value.emails.active + value.emails.disabled > 0;
  return (
    <Page
      title="Overview"
      actions={hasEmails && <StartScan isScanning={isScanning} onStarted={reload} isMinor />}
    >
      <Pending data={data} what="the overview" />
      {value !== undefined && (
        <>
          <Upstream {...value} />
          <FailingChannels channels={value.channels} />
          <WaitingChannels channels={value.channels} />
          {hasEmails ? <Summary overview={value} /> : <NextStep overview={value} />}
        </>
      )}
    </Page>
  );
}

/** What the subscription of Have I Been Pwned lacks. */
function Upstream({ upstream, notices }: Overview) {
  return (
    <>
      {!upstream.isWorking && (
        <div class="notice failure">
          <p>
            Have I Been Pwned does not accept this service's subscription, so scans fail. The operator has to
            renew the subscription
            {upstream.subscribedUntil !== null && (
              <> (it was valid until {dayName(upstream.subscribedUntil.slice(0, 10))})</>
            )}
            .
          </p>
        </div>
      )}
      {notices.length > 0 && (
        <ul class="notice">
          {notices.map((notice) => (
            <li key={notice}>{notice}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function Summary({ overview }: { overview: Overview }) {
  const { findings, lastScan } = overview;
  return (
    <>
      <NextStep overview={overview} />
      <div class="columns">
        <Inbox {...overview} />
        <Figures overview={overview} />
        <div>
          {findings.open + findings.acknowledged === 0 ? (
            <NothingFound scan={lastScan} />
          ) : (
            <>
              <TopBreaches breaches={findings.topBreaches} />
              {isPlotted(findings.byMonth) && <MonthPlot months={findings.byMonth} />}
            </>
          )}
        </div>
      </div>
    </>
  );
}

/** New findings that are open, by breach, and then what first checks brought. */
function Inbox({ news, history, lastScan }: Overview) {
  if (news.findings + history.findings === 0) return null;
  return (
    <section>
      {news.open === 0 ? (
        <NothingNew news={news} isScanning={lastScan !== null && isRunning(lastScan)} />
      ) : (
        <NewBreaches {...news} />
      )}
      {history.findings > 0 && (
        <p class="muted">
          <a href={addressOf("/breaches")}>History</a>: {count(history.findings, "finding")} in{" "}
          {count(history.breaches, "breach", "breaches")} from before the first check of each address,{" "}
          {history.open === 0 ? "all handled" : `${number(history.open)} open`}.
        </p>
      )}
    </section>
  );
}

function NewBreaches({ open, people, breaches }: Overview["news"]) {
  const unlisted = breaches.reduce((rest, breach) => rest - breach.open, open);
  return (
    <>
      <h2>{count(open, "new finding")} to handle</h2>
      <ul class="ranking">
        {breaches.map(({ severity, findings, open, told, assignee, ...breach }) => (
          <li key={breach.breachId}>
            <SeverityMark severity={severity} />
            {assignKey({ breachId: String(breach.breachId), assignee })}
            <BreachName breach={breach} href={addressOf(`/breaches/${breach.breachId}`)} />
            <span>
              {count(findings, "person", "people")}
              {open < findings && `, ${number(open)} open`}
              {told > 0 && `, ${number(told)} told`}
              {assignee !== null && `, ${isolated(assignee.label)}`}
            </span>
          </li>
        ))}
        <li>
          <span class="tailed">
            <a href={addressOf("/findings", { order: "newest" })}>All open findings, newest first</a>
          </span>
          <span>{unlisted > 0 && `${number(unlisted)} new in other breaches`}</span>
        </li>
      </ul>
      {people > 0 && (
        <p class="muted">Found in breaches in the last 7 days: {count(people, "person", "people")}.</p>
      )}
    </>
  );
}

function NothingNew({ news, isScanning }: { news: Overview["news"]; isScanning: boolean }) {
  return (
    <>
      <h2>{isScanning ? "Nothing new so far" : "Nothing new to handle"}</h2>
      <p>
        {news.findings === 0
          ? "In the last 7 days no watched address turned up in a breach that was not known at its first check."
          : `You have handled all ${count(news.findings, "new finding")} of the last 7 days.`}
      </p>
    </>
  );
}

function TopBreaches({ breaches }: { breaches: Overview["findings"]["topBreaches"] }) {
  const most = Math.max(...breaches.map(({ open }) => open));
  return (
    <section>
      <h2>Breaches with the most open findings</h2>
      {breaches.length === 0 ? (
        <p class="muted">Every finding is acknowledged.</p>
      ) : (
        <ol class="ranking">
          {breaches.map(({ open, ...breach }) => (
            <li key={breach.breachId}>
              <BreachName breach={breach} href={addressOf(`/breaches/${breach.breachId}`)} />
              <span class="bar">
                <span style={{ inlineSize: `${(open / most) * 100}%` }} />
              </span>
              <span>{number(open)}</span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Figures({ overview }: { overview: Overview }) {
  const { findings, bySeverity, emails, lastScan, nextScanAt } = overview;
  return (
    <dl class="figures">
      <div>
        <dt>Open findings</dt>
        <dd class="big">
          <a href={addressOf("/findings")}>{number(findings.open)}</a>
        </dd>
        {severities.map((severity) => (
          <dd key={severity} class="level">
            <a href={addressOf("/findings", { severity })}>
              <SeverityMark severity={severity} />
            </a>
            {number(bySeverity[severity])}
          </dd>
        ))}
        <dd class="muted">{number(findings.acknowledged)} acknowledged</dd>
        <EndedByRules ended={overview.endedByRules} />
      </div>
      <div>
        <dt>Addresses in a breach</dt>
        <dd>
          <strong>{number(emails.breached)}</strong> of {number(emails.active)} watched
          {emails.disabled > 0 && `, ${number(emails.disabled)} more disabled`}
        </dd>
        {findings.open > 0 && (
          <dd>
            <a href={addressOf("/emails", mostExposed)}>Most exposed people</a>
          </dd>
        )}
        <NotWatched {...overview} />
      </div>
      <LastScan scan={lastScan} />
      <Fact name="Next scan">
        {nextScanAt === null ? (
          <>
            Not scheduled. <a href={addressOf("/settings/organization")}>Choose how often to scan</a>
          </>
        ) : (
          <When time={nextScanAt} />
        )}
      </Fact>
    </dl>
  );
}

/** What rules ended in the last days, each with the way to its findings. */
function EndedByRules({ ended }: { ended: Overview["endedByRules"] }) {
  const some = Object.entries(ruleNames).flatMap(([id, name]) => {
    const findings = ended[id as keyof typeof ruleNames];
    return findings > 0 ? [{ id, name, findings }] : [];
  });
  if (some.length === 0) return null;
  return (
    <>
      <dd class="muted">
        Ended by rules: {number(some.reduce((sum, { findings }) => sum + findings, 0))} in the last 7 days
      </dd>
      {some.map(({ id, name, findings }) => (
        <dd key={id} class="level">
          <a href={addressOf("/findings", { endedBy: id })}>{name}</a>
          {number(findings)}
        </dd>
      ))}
    </>
  );
}

/** Red, and in words, as long as a severe breach of one of them is new. */
function NotWatched({ unwatched, severeUnwatchedAt }: Overview) {
  if (unwatched === 0) return null;
  const isSevere = severeUnwatchedAt !== null;
  return (
    <>
      <dd>
        <a
          class={isSevere ? "alarming" : ""}
          href={addressOf("/domains/unwatched", isSevere ? { order: "newest" } : {})}
        >
          In breaches, not watched: <strong>{number(unwatched)}</strong>
        </a>
      </dd>
      {isSevere && (
        <dd class="muted">
          New since {dayName(severeUnwatchedAt.slice(0, 10))}: in a breach of high severity or above
        </dd>
      )}
    </>
  );
}

function LastScan({ scan }: { scan: Overview["lastScan"] }) {
  if (scan === null) {
    return <Fact name="Last scan">No scan has run yet.</Fact>;
  }
  return (
    <div>
      <dt>{isRunning(scan) ? "Scan in progress" : "Last scan"}</dt>
      <dd>
        {isRunning(scan) && `${number(scan.scannedEmails)} of ${number(scan.totalEmails)} checked so far`}
        {scan.status === "failed" && `Failed: ${scan.errorMessage ?? "nothing could be checked"}`}
        {scan.status === "completed" && coverageInWords(scan.coverage)}
      </dd>
      <dd class="muted">
        <When time={scan.completedAt ?? scan.createdAt} />
      </dd>
    </div>
  );
}

const kinds = { email: "e-mail", slack: "Slack", webhook: "webhook" } as const;

const receiverOf = ({ channel, name }: Pick<Overview["channels"][number], "channel" | "name">): string =>
  name === null ? `by ${kinds[channel]}` : `to ${name}`;

function FailingChannels({ channels }: { channels: Overview["channels"] }) {
  const failing = channels.filter(({ failing }) => failing);
  if (failing.length === 0) return null;
  return (
    <ul class="notice failure">
      {failing.map(({ id, channel, name, failingSince, notDelivered }) => (
        <li key={id}>
          Alerts <bdi>{receiverOf({ channel, name })}</bdi>{" "}
          {failingSince === null ? "fail" : `have failed since ${exactTime(Date.parse(failingSince))}`}.{" "}
          {notDelivered > 0 &&
            `Since the channel was added, ${count(notDelivered, "alert was", "alerts were")} not delivered. `}
          <a href={addressOf("/alerts", { channel: id })}>See why</a>
        </li>
      ))}
    </ul>
  );
}

function WaitingChannels({ channels }: { channels: Overview["channels"] }) {
  const waiting = channels.flatMap(({ waitsFor, ...each }) =>
    waitsFor === null ? [] : [{ ...each, waitsFor }],
  );
  if (waiting.length === 0) return null;
  return (
    <ul class="notice">
      {waiting.map(({ waitsFor: { reason, until }, ...each }) => (
        <li key={each.id}>
          Alerts <bdi>{receiverOf(each)}</bdi> wait until {exactTime(Date.parse(until))}: {reason}.{" "}
          <a href={addressOf("/alerts", { channel: each.id })}>See which</a>
        </li>
      ))}
    </ul>
  );
}

/** Says of no more addresses than the last scan checked that they are in no breach. */
function NothingFound({ scan }: { scan: Overview["lastScan"] }) {
  if (scan === null) return null;
  if (scan.status === "completed" && scan.coverage.checked > 0) {
    const { checked, failed, stale, skipped } = scan.coverage;
    const isAll = failed + stale + skipped === 0;
    return (
      <Empty
        title={
          isAll
            ? "No address was found in a breach."
            : `None of the ${count(checked, "checked address", "checked addresses")} was found in a breach.`
        }
      >
        {isAll
          ? "What scans find from now on is shown here."
          : "The others were not checked by the last scan: what is known of them may be out of date."}
      </Empty>
    );
  }
  return isRunning(scan) ? (
    <Empty title="The scan is in progress.">What it finds is shown here.</Empty>
  ) : (
    <Empty title="No address could be checked.">This scan says nothing about them.</Empty>
  );
}
