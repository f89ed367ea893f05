/** Removal of e-mails together with their findings, which takes several transactions. */
import type { Actor } from "../access/activity/actor.ts";
import { type Job, newJob, type Sweep, sweepJob } from "../aws/queue/job.ts";
import { inTransactions } from "../aws/table/budget.ts";
import type { Write } from "../aws/table/condition.ts";
import { type Key, keys, organizationOf } from "../aws/table/keys.ts";
import { withOptimisticRetry } from "../aws/table/optimistic-retry.ts";
import * as table from "../aws/table/table.ts";
import { Refusal } from "../contract/errors.ts";
import { type EmailWrites, inBulkById, removalOf } from "../monitoring/emails/changes.ts";
import type { Email } from "../monitoring/emails/record.ts";
import { deletions, findings } from "./record.ts";

type Removal = EmailWrites & Pick<Email, "id"> & { address: string; findingIds: number[] };

/** The writes that remove an e-mail. A row that is due names its findings, which are deleted afterwards. */
const withFindings = (org: number, row: Email): Removal => {
  const { id, email: address } = row;
  const findingIds = Object.values(row.findings);
  const writes = removalOf(org, row);
  const also = findingIds.length > 0 ? [...writes.also, unfinished(org, id, findingIds)] : writes.also;
  return { ...writes, id, address, findingIds, also };
};

/** Removes an e-mail and deletes its findings. Refuses `emailNotFound`. */
export const remove = async (org: number, id: number, actor: Actor): Promise<void> => {
  const summaryOf = ([removed]: readonly Removal[]) => `Removed ${removed?.address}`;
  const { changed } = await removeAll(org, [id], actor, "email.removed", summaryOf);
  // Another request was quicker.
  if (changed === 0) throw new Refusal("emailNotFound");
};

/** Removes many e-mails and deletes their findings. Refuses `emailNotFound` before anything is removed. */
export const removeMany = (org: number, ids: readonly number[], actor: Actor) =>
  removeAll(
    org,
    ids,
    actor,
    "emails.removed",
    ({ length }) => `Removed ${length} ${length === 1 ? "address" : "addresses"}`,
  );

/** How long a request goes on deleting findings; the sweep deletes the rest. */
const deletionMilliseconds = 10_000;

const removeAll = async (
  org: number,
  ids: readonly number[],
  actor: Actor,
  action: "email.removed" | "emails.removed",
  summaryOf: (done: readonly Removal[]) => string,
): Promise<{ changed: number; skipped: number }> => {
  const { done, skipped } = await inBulkById<Removal>(org, {
    ids,
    action,
    summaryOf,
    actor,
    writesOf: async (rows) => rows.map((row) => withFindings(org, row)),
  });
  const endsAt = Date.now() + deletionMilliseconds;
  const deleteAll = async (): Promise<void> => {
    for (const { id, findingIds } of done)
      if (findingIds.length > 0 && Date.now() < endsAt) await deleteFindings(org, id, findingIds);
  };
  // The e-mails are removed even if this fails: the sweep deletes the rest, and reports an error that persists.
  await deleteAll().catch(() => {});
  return { changed: done.length, skipped };
};

/** Finishes a removal that was interrupted. */
export const sweepRemoval = async (key: Key, sweep: Sweep): Promise<void> => {
  const removal = await table.get<RemovalJob>(key);
  if (removal === undefined) return;
  const wake = () => deleteFindings(organizationOf(key), Number(key.sk), removal.findings);
  await sweepJob(key, removal, { wake }, sweep);
};

const deleteFindings = (org: number, id: number, ids: readonly number[]): Promise<void> =>
  withOptimisticRetry(async () => {
    const rows = (await findings.getMany(org, ids)).filter((row) => row !== undefined);
    const over: Write = { delete: keys.removal(org, id) };
    const groups = [...inTransactions(rows, (row) => deletions(org, [row]), [over])];
    const last = groups.pop() ?? [];
    for (const some of groups) await table.transact(deletions(org, some));
    await table.transact([...deletions(org, last), over]);
  });

/** The findings that an e-mail's removal is still to delete. */
type RemovalJob = Job & { findings: readonly number[] };

const unfinished = (org: number, id: number, ids: readonly number[]): Write => {
  const job: RemovalJob = { findings: ids, ...newJob("REMOVAL", id) };
  return { put: { ...keys.removal(org, id), ...job } };
};
