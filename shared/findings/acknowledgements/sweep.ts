import { type Sweep, sweepJob } from "../../aws/queue/job.ts";
import { type Key, keys, organizationOf } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { end } from "./end.ts";
import { type FollowLock, follow } from "./follow.ts";
import { type AcknowledgementLock, type AcknowledgementRow, wake } from "./record.ts";

/**
 * Wakes a worker for a silent request, and ends one that was woken in vain. Where the service's lock
 * names no request, looks which findings have to follow a breach.
 */
export const sweepAcknowledgement = async (key: Key, sweep: Sweep): Promise<void> => {
  const org = organizationOf(key);
  const lock = await table.get<AcknowledgementLock | FollowLock>(key);
  if (lock === undefined) return;
  if (!("acknowledgementId" in lock)) {
    await follow(org);
    return;
  }
  const { acknowledgementId: id, cursor, acknowledged } = lock;
  const giveUp = async (): Promise<void> => {
    const row = await table.get<AcknowledgementRow>(keys.acknowledgement(org, id));
    if (row !== undefined) await end(org, row, lock, "failed", sweep.logger);
  };
  const progress = `${cursor}/${acknowledged}`;
  // Nobody would make the request of rules again: it is woken until it is done.
  const isOfRules = key.sk === keys.rulesLock(org).sk;
  await sweepJob(key, lock, { progress, wake: () => wake(org, id), ...(!isOfRules && { giveUp }) }, sweep);
};
