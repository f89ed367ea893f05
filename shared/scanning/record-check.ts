import * as channels from "../alerting/channels/channel.ts";
import * as delivery from "../alerting/deliveries/delivery.ts";
import { enqueueAlerts } from "../alerting/deliveries/enqueue.ts";
import { allot, gathers, readTold, type Told, toldWrites, withTold } from "../alerting/gathering/early.ts";
import { eventFor, leastTold, ownersChannel } from "../alerting/owners/owner.ts";
import { inTransactions, TransactionBudget } from "../aws/table/budget.ts";
import { absent, type Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import { withOptimisticRetry } from "../aws/table/optimistic-retry.ts";
import * as table from "../aws/table/table.ts";
import * as breachDates from "../findings/breach-dates.ts";
import { findings } from "../findings/record.ts";
import { type Reserved, reserve } from "../lists/blocks.ts";
import * as counts from "../monitoring/counts/counts.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import * as breachDetails from "../monitoring/hibp/breach-details.ts";
import {
  type ChangeWrites,
  type Check,
  firstOf,
  foundOf,
  type Grades,
  includedDomainOf,
  pendingOf,
  sizeOf,
  writesOfChange,
} from "./check-writes.ts";
import type { EmailChange } from "./compare-email.ts";

/** A change that is not recorded yet, with ids for its new findings. */
type Open = { change: EmailChange; ids: readonly Reserved[] };

/** As much of an open change as fits into a transaction: its writes, the deliveries of its alert, and what they tell. */
type Prepared = {
  open: Open;
  isWhole: boolean;
  writes: ChangeWrites;
  raised: delivery.Raised;
  told: readonly Told[];
};

type Recording = Check & {
  alertChannels: readonly channels.Channel[];
  grades: Grades;
  /** Those channels that the scan tells of all e-mails at its end. */
  gathering: readonly channels.Channel[];
  /** The level from which owners are told now. */
  leastOfOwners: number | undefined;
  /** Ids that are left for deliveries. */
  deliveryIds: Reserved[];
  /** What the rows of breach dates are known to hold. */
  dates: Map<number, breachDates.Dates>;
  /** Ids of the e-mails that left the scan. */
  skipped: Set<number>;
};

/**
 * Records the changes of a chunk: findings, what the e-mails hold, and the deliveries of the alerts, together
 * in transactions that do nothing when repeated. E-mails that are no longer part of the scan are skipped.
 *
 * @returns How many e-mails were skipped; undefined when the chunk is closed, so that nothing is written, or the scan is over.
 */
export const recordCheck = async (
  check: Check,
  changes: readonly EmailChange[],
): Promise<number | undefined> => {
  const { org, scanId, isFirst, logger } = check;
  const findingCount = changes.reduce((sum, { found }) => sum + found.length, 0);
  const eventCount = changes.filter(({ found }) => found.length > 0).length;
  const alertChannels = await channels.list(org);
  // Whether a first scan finds too many people for owners to be told shows at its end.
  const leastOfOwners = isFirst ? undefined : leastTold(alertChannels);
  const wanting = alertChannels.filter((channel) => channels.wants(channel, "breach"));
  const gathering = eventCount === 0 ? [] : wanting.filter((channel) => gathers(channel, scanId));
  const atOnce = wanting.length - gathering.length + (leastOfOwners === undefined ? 0 : 1);
  const [grades, ids, deliveryIds] = await Promise.all([
    breachDetails.grades(changes.flatMap(({ found }) => found)),
    reserve(org, "FINDING", findingCount),
    delivery.reserveIds(org, eventCount * atOnce),
  ]);
  const recording: Recording = {
    ...check,
    alertChannels,
    grades,
    gathering,
    leastOfOwners,
    deliveryIds,
    dates: new Map(),
    skipped: new Set(),
  };
  let open = changes.map((change): Open => ({ change, ids: ids.splice(0, change.found.length) }));
  return withOptimisticRetry(async () => {
    while (open.length > 0) {
      const prepared = await prepare(recording, open);
      await breachDates.widen(
        org,
        prepared.flatMap(({ writes }) => writes.detected),
        recording.dates,
      );
      open = [];
      let refused: table.TransactionRefused | undefined;
      for (const group of inTransactions(prepared, (each) => writesOf(recording, [each]))) {
        const transaction = await table.attempt(table.transact(writesOf(recording, group)));
        if (transaction.written) {
          const messages = group.flatMap(({ raised }) => raised.messages);
          await enqueueAlerts(org, messages, logger);
          open.push(...group.flatMap(restOf));
          continue;
        }
        // The first write fails when the chunk is closed, every other one when its row changed after it was read.
        if (transaction.failed.some(({ index }) => index === 0)) return undefined;
        refused = new table.TransactionRefused(transaction.failed);
        open.push(...group.map((each) => each.open));
      }
      if (refused !== undefined) throw refused;
    }
    return recording.skipped.size;
  });
};

/** Reads the e-mails of open changes and prepares those that are still part of the scan, unless they are recorded already. */
const prepare = async (recording: Recording, open: readonly Open[]): Promise<Prepared[]> => {
  const { org, scanId, gathering, skipped } = recording;
  const ids = open.map(({ change }) => change.emailId);
  const [rows, before] = await Promise.all([emails.getMany(org, ids), readTold(org, scanId, gathering)]);
  let told = before;
  const prepared: Prepared[] = [];
  for (const [index, each] of open.entries()) {
    const row = rows[index];
    const domain = row && includedDomainOf(recording, row);
    if (row === undefined || domain === undefined) skipped.add(each.change.emailId);
    else {
      const ready = await prepareOne({ ...recording, told }, row, domain, each);
      told = withTold(
        told,
        ready.flatMap((one) => one.told),
      );
      prepared.push(...ready);
    }
  }
  return prepared;
};

/** Prepares the largest first part of a change that fits into a transaction; none when it is recorded. */
const prepareOne = async (
  recording: Recording & { told: ReadonlyMap<number, Told> },
  row: Email,
  domain: Domain,
  open: Open,
): Promise<Prepared[]> => {
  const { org, scanId, isFirst, alertChannels, deliveryIds, grades, leastOfOwners } = recording;
  const pending = pendingOf(row, open.change);
  if (sizeOf(pending) === 0) return [];
  for (let size = Math.min(sizeOf(pending), table.maxTransactionWrites); size > 0; size--) {
    const first = firstOf(pending, size);
    const found = foundOf(grades, row.id, first, open.ids);
    const unused = [...deliveryIds];
    const toOwner = leastOfOwners === undefined ? undefined : eventFor(found, leastOfOwners);
    const { wanted, told } = allot({ id: scanId, isFirst }, alertChannels, recording.told, found);
    const events = toOwner === undefined ? wanted : [{ event: toOwner, channel: ownersChannel }, ...wanted];
    const raised = await delivery.raiseFor(org, events, unused);
    const deliveryId = raised.messages[0]?.message.deliveryId;
    const writes = writesOfChange(
      recording,
      row,
      domain,
      first,
      open.ids,
      toOwner && deliveryId !== undefined ? { deliveryId, findingIds: toOwner.email.findingIds } : undefined,
    );
    const one: Prepared = { open, isWhole: sizeOf(first) === sizeOf(pending), writes, raised, told };
    if (!new TransactionBudget().take(writesOf(recording, [one]))) continue;
    deliveryIds.splice(0, deliveryIds.length, ...unused);
    return [one];
  }
  throw new Error("The writes of one breach do not fit into a transaction");
};

/** What is left of a change whose first part is written. */
const restOf = ({ open, isWhole, writes }: Prepared): Open[] =>
  isWhole ? [] : [{ ...open, ids: open.ids.slice(writes.newFindings.length) }];

/** The writes of some e-mails' changes, as one transaction makes them. */
const writesOf = (recording: Recording, prepared: readonly Prepared[]): Write[] => {
  const { org, scanId, batch, chunk } = recording;
  const changes = prepared.map(({ writes }) => writes);
  return [
    { check: keys.closedChunk(org, scanId, batch, chunk), if: absent },
    ...toldWrites(
      org,
      scanId,
      prepared.flatMap(({ told }) => told),
    ),
    ...emails.writes(
      org,
      changes.map(({ email }) => email),
    ),
    ...findings.writes(
      org,
      changes.flatMap(({ newFindings }) => newFindings),
    ),
    ...counts.writes(org, {
      findings: changes.flatMap(({ detected }) => detected),
      breachedEmails: changes.reduce((sum, { breachedEmails }) => sum + breachedEmails, 0),
      people: changes.flatMap(({ people }) => people),
    }),
    ...changes.flatMap(({ seenFindings }) => seenFindings),
    ...delivery.deliveries.writes(
      org,
      prepared.flatMap(({ raised }) => raised.writes),
    ),
  ];
};
