import type { Logger } from "@aws-lambda-powertools/logger";
import type { AlertEvent } from "../alerting/deliveries/delivery.ts";
import { chunk } from "../aws/table/chunk.ts";
import { condition, exists, type Write } from "../aws/table/condition.ts";
import * as table from "../aws/table/table.ts";
import type { EmailChange } from "../contract/messages.ts";
import { findings, newFinding } from "../findings/record.ts";
import type { Reserved } from "../lists/blocks.ts";
import * as counts from "../lists/counts.ts";
import type { MemberWrite } from "../lists/member-writes.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { type Email, emails, isBreached } from "../monitoring/emails/record.ts";
import { lastScannedAt } from "../monitoring/emails/watermark.ts";
import type { ChunkKey } from "./email-chunks.ts";
import { isIncluded } from "./included-emails.ts";

/** The check of one chunk. `checkedAt`: its time, which is before HIBP was asked. */
export type Check = ChunkKey & {
  checkedAt: string;
  domains: ReadonlyMap<number, Domain>;
  logger: Logger;
};

/** An alert of new breaches names at most this many; more become further alerts. With more than 16 channels it names fewer. */
const breachesPerEvent = 75;

/**
 * The other writes of a transaction: the check of the closed chunk's row, counts, and rows of blocks, which
 * count new rows or note them.
 */
const closedChunkWrites = 1;
const findingBlockWrites = 2;
const deliveryDirectoryWrites = 2;
const stepWritesPerTransaction =
  table.maxTransactionWrites -
  closedChunkWrites -
  counts.countWrites -
  findingBlockWrites -
  deliveryDirectoryWrites;

/** Writes that a transaction for one e-mail needs in addition to its findings and deliveries, if both start new blocks. */
const writesOfLoneStep = 1 + closedChunkWrites + counts.countWrites + 2 + deliveryDirectoryWrites;

/** The part of an e-mail's change that one transaction writes. Its lists hold breach ids. */
export type Step = { emailId: number; found: number[]; gone: number[]; back: number[] };

/**
 * Cuts a change into steps. What is gone comes first, because its `lastSeenAt` is the e-mail's check before
 * this one, and the other steps overwrite that time. A step always fits into a
 * transaction with the deliveries of its alert.
 */
export const stepsOf = ({ emailId, found, gone, back }: EmailChange, deliveriesPerEvent: number): Step[] => {
  const foundPerStep = Math.min(
    breachesPerEvent,
    table.maxTransactionWrites - writesOfLoneStep - deliveriesPerEvent,
  );
  const none = { emailId, found: [], gone: [], back: [] };
  return [
    ...[...chunk(gone, breachesPerEvent)].map((ids) => ({ ...none, gone: ids })),
    ...[...chunk(back, breachesPerEvent)].map((ids) => ({ ...none, back: ids })),
    ...[...chunk(found, foundPerStep)].map((ids) => ({ ...none, found: ids })),
  ];
};

/**
 * Groups steps by transaction. A step with new breaches makes `deliveriesPerEvent` deliveries, and two steps
 * of one e-mail cannot share a transaction, because both write its row.
 */
export function* inTransactions(
  steps: readonly Step[],
  deliveriesPerEvent: number,
): Generator<Step[], void, undefined> {
  let group: Step[] = [];
  let groupWrites = 0;
  for (const step of steps) {
    const emailWrites = 1;
    const writes =
      emailWrites +
      step.found.length +
      step.gone.length +
      step.back.length +
      (step.found.length > 0 ? deliveriesPerEvent : 0);
    const isRepeated = group.some((other) => other.emailId === step.emailId);
    if (group.length > 0 && (isRepeated || groupWrites + writes > stepWritesPerTransaction)) {
      yield group;
      group = [];
      groupWrites = 0;
    }
    group.push(step);
    groupWrites += writes;
  }
  if (group.length > 0) yield group;
}

/**
 * Whether an e-mail is still part of its scan. An e-mail whose domain was unverified since then is not, even
 * if the domain is verified again (`planState` is then "failed").
 */
export const isStillIncluded = ({ scanId, domains }: Check, row: Email): boolean => {
  const group = emails.groupOf(row);
  const domain = domains.get(group.domainId);
  return isIncluded(row, group, scanId) && domain?.verified === true && domain.planState !== "failed";
};

/**
 * The writes of one step. `events`: the alert of the new breaches, if there are any. `detected` and
 * `breachedEmails`: of what further rows follow.
 */
export type StepWrites = {
  events: AlertEvent[];
  detected: counts.CountedChange[];
  breachedEmails: number;
  email: MemberWrite;
  newFindings: MemberWrite[];
  seenFindings: Write[];
};

/**
 * The writes that one step still needs, given the e-mail's row as read; they fail when that row changes.
 * Undefined when nothing is left to write. Takes the ids of new findings off `ids`.
 */
export const writesOfStep = (
  { org, scanId, checkedAt, domains }: Check,
  row: Email,
  step: Step,
  ids: Reserved[],
): StepWrites | undefined => {
  const group = emails.groupOf(row);
  const found = step.found.filter((breachId) => !isHeld(row, breachId));
  const gone = step.gone.filter((breachId) => isHeld(row, breachId) && !row.gone?.has(breachId));
  const back = step.back.filter((breachId) => isHeld(row, breachId) && row.gone?.has(breachId));
  if (found.length + gone.length + back.length === 0) return undefined;

  const reserved = found.map((breachId) => {
    const id = ids.shift();
    if (id === undefined) throw new Error("Too few ids of findings were reserved");
    return { breachId, id };
  });
  const detectedGroup = { scanId, acknowledged: false, domainId: group.domainId };
  const domain = domains.get(group.domainId);
  const lastSeenAt = domain && lastScannedAt(row, domain);
  const isNewestCheck = found.length + back.length > 0 && checkedAt > (row.lastScannedAt ?? "");
  const event: AlertEvent = {
    type: "breach",
    breachIds: found,
    email: { id: row.id, findingIds: reserved.map(({ id }) => id.id), teamId: group.teamId },
  };
  return {
    events: found.length > 0 ? [event] : [],
    detected: reserved.map(({ breachId, id: { id } }) => ({
      id,
      breachId,
      firstDetectedAt: checkedAt,
      to: detectedGroup,
    })),
    breachedEmails: found.length > 0 && group.isActive && !isBreached(row) ? 1 : 0,
    email: emails.change(org, row.id, {
      from: group,
      set: {
        ...Object.fromEntries(reserved.map(({ breachId, id }) => [`findings.${breachId}`, id.id])),
        ...(isNewestCheck && { lastScannedAt: checkedAt }),
      },
      add: { unacknowledged: found.length, gone: new Set(gone) },
      take: { gone: new Set(back) },
      if: condition(
        `#afterScan = :afterScan AND #findings = :findings AND ${row.gone === undefined ? "attribute_not_exists(#gone)" : "#gone = :gone"}`,
        {
          afterScan: row.afterScan,
          findings: row.findings,
          ...(row.gone !== undefined && { gone: row.gone }),
        },
      ),
    }),
    newFindings: reserved.map(({ breachId, id }) =>
      findings.put(
        org,
        id,
        detectedGroup,
        newFinding(org, {
          emailId: row.id,
          email: row.email,
          domainId: group.domainId,
          breachId,
          firstDetectedAt: checkedAt,
        }),
      ),
    ),
    seenFindings: [
      ...gone.map(
        (breachId): Write => ({
          update: findings.key(org, row.findings[breachId] ?? 0),
          set: { lastSeenAt: lastSeenAt ?? row.createdAt },
          if: exists,
        }),
      ),
      ...back.map(
        (breachId): Write => ({
          update: findings.key(org, row.findings[breachId] ?? 0),
          remove: ["lastSeenAt"],
          if: exists,
        }),
      ),
    ],
  };
};

/** Whether the e-mail has a finding of this breach. */
const isHeld = (row: Email, breachId: number): boolean => row.findings[breachId] !== undefined;
