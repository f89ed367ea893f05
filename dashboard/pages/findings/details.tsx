import { useState } from "preact/hooks";
import type { Finding } from "../../api/routes.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { SeverityMark } from "../../components/severity.tsx";
import { When } from "../../components/when.tsx";
import { addressOf } from "../../place.ts";
import { dayName } from "../../text/dates.ts";
import { textOfHtml } from "../../text/html.ts";
import { number } from "../../text/words.ts";
import { AcknowledgeDialog } from "./acknowledge.tsx";
import { FindingState } from "./columns.tsx";
import { anyState } from "./filters.ts";

type DetailsProps = { finding: Finding; onClose: () => void; onChanged: () => void };

export function FindingDetails({ finding, onClose, onChanged }: DetailsProps) {
  const [open, setOpen] = useState<"acknowledge" | "reopen">();
  const { breach } = finding;
  return (
    <Dialog title={`${finding.email} in ${breach.title}`} onClose={onClose} isWide isText>
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
      {textOfHtml(breach.description)
        .split("\n")
        .map((paragraph) => (
          <p key={paragraph}>{paragraph}</p>
        ))}
      <Advice advice={breach.advice} />
      <p class="links">
        <a href={addressOf("/findings", { acknowledged: anyState, breachId: breach.id })}>
          All findings of this breach
        </a>
        <a href={addressOf("/findings", { acknowledged: anyState, emailId: finding.emailId })}>
          All findings of this address
        </a>
      </p>
      <div class="buttons">
        <Button onClick={onClose}>Close</Button>
        {finding.acknowledged && <Button onClick={() => setOpen("reopen")}>Reopen</Button>}
        <Button kind="primary" onClick={() => setOpen("acknowledge")}>
          Acknowledge
        </Button>
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

/** What to do about a breach. */
export function Advice({ advice }: { advice: Finding["breach"]["advice"] }) {
  return (
    <section class="advice">
      <h3>What to do</h3>
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
