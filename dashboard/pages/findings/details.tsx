import { useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import type { Finding } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { FailureNotice, Loading } from "../../components/notice.tsx";
import { Page } from "../../components/page.tsx";
import { SeverityMark } from "../../components/severity.tsx";
import { useData } from "../../components/use-data.ts";
import { When } from "../../components/when.tsx";
import { addressOf } from "../../place.ts";
import { dayName } from "../../text/dates.ts";
import { textOfHtml } from "../../text/html.ts";
import { number } from "../../text/words.ts";
import { AcknowledgeDialog } from "./acknowledge.tsx";
import { FindingState } from "./columns.tsx";
import { anyState } from "./filters.ts";

/** Everything about a finding. */
function FindingFacts({ finding }: { finding: Finding }) {
  const { breach } = finding;
  return (
    <>
      <dl class="facts">
        <div>
          <dt>State</dt>
          <dd>
            <FindingState finding={finding} />
            <Acknowledgement finding={finding} />
          </dd>
        </div>
        <div>
          <dt>Severity</dt>
          <dd>
            <SeverityMark severity={finding.severity} />
          </dd>
        </div>
        <div>
          <dt>Owner</dt>
          <dd>
            {finding.ownerName === null ? (
              <span class="muted">not known</span>
            ) : (
              <bdi>{finding.ownerName}</bdi>
            )}
            {finding.team !== null && (
              <>
                , <bdi>{finding.team.name}</bdi>
              </>
            )}
          </dd>
        </div>
        <div>
          <dt>Exposed</dt>
          <dd>{breach.dataClasses.join(", ") || "not known"}</dd>
        </div>
        {finding.stealerLogDomains !== undefined && (
          <div>
            <dt>Logins stolen for</dt>
            <dd>
              <bdi>{finding.stealerLogDomains.join(", ")}</bdi>
            </dd>
          </div>
        )}
        <div>
          <dt>Breached</dt>
          <dd>
            {dayName(breach.breachDate)}
            {breach.domain !== "" && `, ${breach.domain}`}, {number(breach.pwnCount)} accounts
          </dd>
        </div>
        <div>
          <dt>First seen here</dt>
          <dd>
            <When time={finding.firstDetectedAt} />
            {finding.firstDetectedScanId !== null && (
              <a
                href={addressOf("/findings", { acknowledged: anyState, scanId: finding.firstDetectedScanId })}
              >
                All of that scan
              </a>
            )}
          </dd>
        </div>
        <div>
          <dt>Last seen here</dt>
          <dd>
            <When time={finding.lastSeenAt} />
          </dd>
        </div>
      </dl>
      <Description breach={breach} />
      <Advice advice={breach.advice} />
      <p class="links">
        <a href={addressOf(`/breaches/${breach.id}`)}>This breach</a>
        <a href={addressOf("/findings", { acknowledged: anyState, emailId: finding.emailId })}>
          All findings of this address
        </a>
      </p>
    </>
  );
}

type Open = "acknowledge" | "reopen" | undefined;

/** Buttons of what can be done with a finding. */
function FindingActions({ finding, setOpen }: { finding: Finding; setOpen: (open: Open) => void }) {
  return (
    <>
      {finding.acknowledged && <Button onClick={() => setOpen("reopen")}>Reopen</Button>}
      <Button kind="primary" onClick={() => setOpen("acknowledge")}>
        Acknowledge
      </Button>
    </>
  );
}

type DetailsProps = { finding: Finding; onClose: () => void; onChanged: () => void };

/** A finding of a list. */
export function FindingDetails({ finding, onClose, onChanged }: DetailsProps) {
  const [open, setOpen] = useState<Open>();
  return (
    <Dialog title={titleOf(finding)} onClose={onClose} isWide isText>
      <FindingFacts finding={finding} />
      <div class="buttons">
        <a href={addressOf(`/findings/${finding.id}`)}>Link to this finding</a>
        <span class="space" />
        <Button onClick={onClose}>Close</Button>
        <FindingActions finding={finding} setOpen={setOpen} />
      </div>
      {open !== undefined && (
        <AcknowledgeDialog
          selection={{ kind: "ids", ids: [finding.id] }}
          isReopening={open === "reopen"}
          onClose={() => setOpen(undefined)}
          onDone={onChanged}
        />
      )}
    </Dialog>
  );
}

const titleOf = ({ email, breach }: Finding): string => `${email} in ${breach.title}`;

/** A finding that was linked to: /findings/{id}. */
export function FindingPage({ id }: { id: string }) {
  const { value, failure, reload } = useData(id, (signal) =>
    call("GET /dashboard/findings/{id}", { path: { id } }, { signal }),
  );
  const [open, setOpen] = useState<Open>();
  return (
    <Page
      title={value === undefined ? "Finding" : titleOf(value)}
      actions={value && <FindingActions finding={value} setOpen={setOpen} />}
    >
      {failure !== undefined && <FailureNotice failure={failure} retry={reload} />}
      {value === undefined && failure === undefined && <Loading what="the finding" />}
      {value !== undefined && (
        <div class="prose">
          <FindingFacts finding={value} />
        </div>
      )}
      {value !== undefined && open !== undefined && (
        <AcknowledgeDialog
          selection={{ kind: "ids", ids: [value.id] }}
          isReopening={open === "reopen"}
          onClose={() => setOpen(undefined)}
          onDone={reload}
        />
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

/** What to do about a breach. */
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
  const { acknowledgedBy, acknowledgedByApiKey, acknowledgedAt, acknowledgeReason } = finding;
  return (
    <>
      {" by "}
      <bdi>{acknowledgedBy?.label ?? `API key ${acknowledgedByApiKey?.label ?? ""}`}</bdi>,{" "}
      <When time={acknowledgedAt} />
      {acknowledgeReason !== null && (
        <p class="typed" dir="auto">
          {acknowledgeReason}
        </p>
      )}
    </>
  );
}
