import type { Invocation } from "../../aws/queue/consume.ts";
import { type Key, keys, organizationOf } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { acknowledgementRenewalSeconds } from "../../contract/acknowledgement-timing.ts";
import { end } from "./end.ts";
import { type FollowLock, follow } from "./follow.ts";
import { type AcknowledgementLock, type AcknowledgementRow, isAsRead, wake } from "./record.ts";

/** A request fails when this many sweeps in a row have woken a worker in vain, which takes an hour. */
const maximumFruitlessWakes = 12;

/** The least silence, for local runs that shorten all waiting times: progress may be noted two seconds late. */
const minimumSilenceSeconds = acknowledgementRenewalSeconds + 2;

/**
 * Looks which findings have to follow a breach, where the service's lock names no request. Wakes a worker for a request whose
 * workers have been silent for `silenceSeconds`; ends a request that was woken in vain.
 */
export const sweepAcknowledgement = async (
  key: Key,
  now: Date,
  { logger }: Invocation,
  { silenceSeconds }: { silenceSeconds: number },
): Promise<void> => {
  const org = organizationOf(key);
  const lock = await table.get<AcknowledgementLock | FollowLock>(key);
  if (lock === undefined) return;
  if (!("acknowledgementId" in lock)) {
    await follow(org);
    return;
  }
  const { acknowledgementId: id } = lock;
  const silentMilliseconds = now.getTime() - Date.parse(lock.dueAt);
  if (silentMilliseconds < 1000 * Math.max(minimumSilenceSeconds, silenceSeconds)) return;
  const fruitlessWakes = lock.fruitlessWakes + 1;
  if (fruitlessWakes > maximumFruitlessWakes) {
    const row = await table.get<AcknowledgementRow>(keys.acknowledgement(org, id));
    if (row !== undefined) await end(org, row, lock, "failed", logger);
    return;
  }
  const { written } = await table.attempt(
    table.update(key, { set: { fruitlessWakes, dueAt: now.toISOString() }, if: isAsRead(lock) }),
  );
  // Not written: the request has gone on or ended since its lock was read.
  if (!written) return;
  logger.warn("acknowledging woken", { organizationId: org, acknowledgementId: id, fruitlessWakes });
  await wake(org, id);
};
