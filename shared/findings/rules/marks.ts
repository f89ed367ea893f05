/**
 * What rules have to look at again: marks, which are due rows. Whoever changes a fact that rules read writes the
 * mark in the same transaction, and wakes a worker afterwards. Marks of many changes make one request
 * (acknowledgements/rule-run.ts).
 */
import * as organizations from "../../access/organizations/organization.ts";
import { type Job, newJob, type Sweep, sweepJob } from "../../aws/queue/job.ts";
import * as queue from "../../aws/queue/queue.ts";
import { chunk } from "../../aws/table/chunk.ts";
import type { Change, Write } from "../../aws/table/condition.ts";
import { type Key, keys, organizationOf, padded } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { type EmailRow, isBreached } from "../../monitoring/emails/record.ts";

/**
 * `count` grows with each change, so that a request takes off what it has seen. `since`: when the first change was
 * made (ISO 8601). `after`: the scan that has to end before the mark counts again.
 */
export type Mark = Key &
  Job & {
    count: number;
    since: string;
    emailId?: number;
    breachIds?: Set<number>;
    isWhole?: true;
    after?: number;
  };

/** A worker waits so long for further changes, so that a request deals with many. */
export const gatheringSeconds = 10;

/** How many organizations' marks are written at the same time. */
const concurrency = 10;

const mark = (org: number, name: string, change: Pick<Change, "set" | "add">): Write => {
  const since = new Date().toISOString();
  return {
    update: keys.ruleMark(org, name),
    set: change.set ?? {},
    setOnce: { ...newJob("RULE-MARK", org, since), since },
    add: { count: 1, ...change.add },
    // A mark that has waited for a scan counts at once again.
    remove: ["after"],
  };
};

/**
 * For the transaction that changes the facts of an e-mail's person: has rules look at its findings again. Empty
 * where it has none. Afterwards the caller calls `wake`.
 */
export const recheck = (org: number, email: Pick<EmailRow, "findings"> & { id: number }): Write[] =>
  isBreached(email) ? [mark(org, `EMAIL#${padded(email.id)}`, { set: { emailId: email.id } })] : [];

/** For the transaction that switches a rule on: has rules look at all findings. */
export const recheckAll = (org: number): Write[] => [mark(org, "WHOLE", { set: { isWhole: true } })];

/** Has rules of every organization look at the findings of these breaches, before the catalog changes them. */
export const recheckBreaches = async (breachIds: readonly number[]): Promise<void> => {
  if (breachIds.length === 0) return;
  const change = { add: { breachIds: new Set(breachIds) } };
  for await (const ids of organizations.everyId()) {
    for (const some of chunk(ids, concurrency)) {
      await Promise.all(some.map((org) => table.transact([mark(org, "BREACHES", change)])));
    }
  }
};

/**
 * Wakes a worker for the marks of an organization. `isAtOnce`: it does not wait for further ones. If SQS does not
 * take the message, the next sweep sends it.
 */
export const wake = async (org: number, { isAtOnce = false } = {}): Promise<void> => {
  const delaySeconds = isAtOnce ? undefined : gatheringSeconds;
  await queue
    .send(
      "acknowledgements",
      { organizationId: org },
      { group: String(org), ...(delaySeconds && { delaySeconds }) },
    )
    .catch(() => {});
};

/** Marks in the order of their names; at most `limit`. */
export const read = (org: number, limit: number): Promise<Mark[]> =>
  table.query<Mark>({ pk: keys.ruleMark(org, "").pk, limit });

/** Wakes a worker for a mark that nobody deals with. */
export const sweepMark = async (key: Key, sweep: Sweep): Promise<void> => {
  const row = await table.get<Mark>(key);
  if (row === undefined) return;
  const wakeWorker = (): Promise<void> => wake(organizationOf(key), { isAtOnce: true });
  await sweepJob(key, row, { wake: wakeWorker }, sweep);
};
