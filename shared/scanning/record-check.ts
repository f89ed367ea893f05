import * as channels from "../alerting/channels/channel.ts";
import * as delivery from "../alerting/deliveries/delivery.ts";
import { enqueueAlerts } from "../alerting/deliveries/enqueue.ts";
import { absent, type Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { EmailChange } from "../contract/messages.ts";
import { findings } from "../findings/record.ts";
import { type Reserved, reserve } from "../lists/blocks.ts";
import * as counts from "../lists/counts.ts";
import { emails } from "../monitoring/emails/record.ts";
import {
  type Check,
  inTransactions,
  isStillIncluded,
  type Step,
  stepsOf,
  writesOfStep,
} from "./check-writes.ts";
import type { ClosedChunk } from "./email-chunks.ts";
import { lockRenewer } from "./lock.ts";

/**
 * Records the changes of a chunk: findings, what the e-mails hold, and the deliveries of the alerts, together
 * in transactions that do nothing when repeated. E-mails that are no longer part of the scan are skipped.
 *
 * @param skippedBefore How many e-mails of the chunk were skipped when `changes` were made.
 * @returns How many e-mails of the chunk were skipped in all. If the chunk is closed, nothing is written:
 * then the number is that of the worker that closed it, or undefined when the scan ended without the chunk.
 */
export const recordCheck = async (
  check: Check,
  changes: readonly EmailChange[],
  skippedBefore = 0,
): Promise<number | undefined> => {
  const { org, scanId } = check;
  const alertChannels = await channels.list(org);
  const deliveriesPerEvent = delivery.countWanting(alertChannels, "breach");
  const foundCount = changes.reduce((sum, change) => sum + change.found.length, 0);
  const steps = changes.flatMap((change) => stepsOf(change, deliveriesPerEvent));
  const eventCount = steps.filter(({ found }) => found.length > 0).length;
  const [ids, deliveryIds] = await Promise.all([
    reserve(org, "FINDING", foundCount),
    delivery.reserveIds(org, eventCount * deliveriesPerEvent),
  ]);
  const renew = lockRenewer(org, scanId);
  const skipped = new Set<number>();
  const transactions = [...inTransactions(steps, deliveriesPerEvent)].map((group) => ({
    group,
    groupIds: ids.splice(
      0,
      group.reduce((sum, step) => sum + step.found.length, 0),
    ),
  }));
  for (const { group, groupIds } of inTurn(transactions)) {
    if (!(await renew())) return undefined;
    const closed = await recordSteps(check, alertChannels, group, { ids: groupIds, deliveryIds }, skipped);
    if (closed !== undefined) return closed.skipped;
  }
  return skippedBefore + skipped.size;
};

/** Steps that are written together, and the ids of their findings. */
export type Transaction = { group: readonly Step[]; groupIds: readonly Reserved[] };

/**
 * Puts transactions whose findings begin in different blocks in turn. Blocks are partitions of the table, so that a worker does not
 * stay on one partition that throttles while others have nothing to do. Steps of one e-mail keep their order.
 */
export const inTurn = (transactions: readonly Transaction[]): Transaction[] => {
  const runs: Transaction[][] = [];
  for (const transaction of transactions) {
    const before = runs.at(-1);
    const emailId = before?.at(-1)?.group.at(-1)?.emailId;
    if (before !== undefined && emailId === transaction.group[0]?.emailId) before.push(transaction);
    else runs.push([transaction]);
  }
  const ofBlocks = [...Map.groupBy(runs, ([first]) => first?.groupIds[0]?.block).values()];
  const most = Math.max(0, ...ofBlocks.map((ofBlock) => ofBlock.length));
  return Array.from({ length: most }, (_, turn) => ofBlocks.flatMap((ofBlock) => ofBlock[turn] ?? [])).flat();
};

/** Ids for the findings of some steps; and those left for deliveries of the chunk, of which raising takes some. */
type Ids = { ids: readonly Reserved[]; deliveryIds: Reserved[] };

/**
 * Records steps together, or one by one if that fails. Returns the closed chunk's row if the chunk is closed.
 */
const recordSteps = async (
  check: Check,
  alertChannels: readonly channels.Channel[],
  steps: readonly Step[],
  ids: Ids,
  skipped: Set<number>,
): Promise<ClosedChunk | undefined> => {
  const result = await writeSteps(check, alertChannels, steps, ids, skipped);
  if (result !== "changed") return result === "written" ? undefined : result;
  for (const step of steps) {
    const closed = await recordAlone(check, alertChannels, step, skipped);
    if (closed !== undefined) return closed;
  }
  return undefined;
};

const maximumTries = 6;

const recordAlone = async (
  check: Check,
  alertChannels: readonly channels.Channel[],
  step: Step,
  skipped: Set<number>,
): Promise<ClosedChunk | undefined> => {
  for (let count = 0; count < maximumTries; count++) {
    const ids = await reserve(check.org, "FINDING", step.found.length);
    const result = await writeSteps(check, alertChannels, [step], { ids, deliveryIds: [] }, skipped);
    if (result !== "changed") return result === "written" ? undefined : result;
  }
  throw new Error(
    `E-mail ${step.emailId} changed during each of ${maximumTries} tries to record its check; the message comes again`,
  );
};

/**
 * "changed": nothing was written, because a row changed after it was read or because these ids do not fit
 * into a transaction. A closed chunk: nothing was written.
 */
type WriteResult = "written" | "changed" | ClosedChunk;

/** Writes steps in one transaction and enqueues the alerts. Adds e-mails that left the scan to `skipped`. */
const writeSteps = async (
  check: Check,
  alertChannels: readonly channels.Channel[],
  steps: readonly Step[],
  { ids, deliveryIds }: Ids,
  skipped: Set<number>,
): Promise<WriteResult> => {
  const { org, scanId, batch, chunk, logger } = check;
  const rows = await emails.getMany(
    org,
    steps.map((step) => step.emailId),
  );
  const unusedIds = [...ids];
  const stepWrites = steps
    .map((step, index) => {
      const row = rows[index];
      if (row !== undefined && isStillIncluded(check, row)) return writesOfStep(check, row, step, unusedIds);
      skipped.add(step.emailId);
      return undefined;
    })
    .filter((each) => each !== undefined);
  if (stepWrites.length === 0) return "written";
  const raised = await delivery.raise(
    org,
    alertChannels,
    stepWrites.flatMap(({ events }) => events),
    deliveryIds,
  );
  const writes: Write[] = [
    { check: keys.closedChunk(org, scanId, batch, chunk), if: absent },
    ...emails.writes(
      org,
      stepWrites.map(({ email }) => email),
    ),
    ...findings.writes(
      org,
      stepWrites.flatMap(({ newFindings }) => newFindings),
    ),
    ...counts.writes(org, {
      findings: stepWrites.flatMap(({ detected }) => detected),
      breachedEmails: stepWrites.reduce((sum, { breachedEmails }) => sum + breachedEmails, 0),
    }),
    ...stepWrites.flatMap(({ seenFindings }) => seenFindings),
    ...delivery.deliveries.writes(org, raised.writes),
  ];
  // Ids of several steps may lie in many blocks. Each step alone fits.
  if (writes.length > table.maxTransactionWrites) return "changed";
  const transaction = await table.attempt(table.transact(writes));
  if (!transaction.written) {
    // The first write fails when the chunk is closed, every other one when its row changed after it was read.
    const closed = transaction.failed.find(({ index }) => index === 0);
    return closed === undefined ? "changed" : ((closed.item ?? {}) as ClosedChunk);
  }
  await enqueueAlerts(org, raised.messages, logger);
  return "written";
};
