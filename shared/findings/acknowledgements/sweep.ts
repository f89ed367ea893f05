import type { Invocation } from "../../aws/queue/consume.ts";
import * as queue from "../../aws/queue/queue.ts";
import { type Key, organizationOf } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { acknowledgementRenewalSeconds } from "../../contract/acknowledgement-timing.ts";
import { end } from "./end.ts";
import { type AcknowledgementLock, heldBy } from "./lock.ts";
import { readState, type State } from "./record.ts";

/** A request fails when this many sweeps in a row have woken a worker in vain, which takes an hour. */
const maximumFruitlessWakes = 12;

/** The least silence, for local runs that shorten all waiting times: a renewal may be two seconds late. */
const minimumSilenceSeconds = acknowledgementRenewalSeconds + 2;

/** Wakes a worker for a request whose workers have been silent for `silenceSeconds`; ends a request that was woken in vain. */
export const sweepAcknowledgement = async (
  key: Key,
  now: Date,
  { logger }: Invocation,
  { silenceSeconds }: { silenceSeconds: number },
): Promise<void> => {
  const org = organizationOf(key);
  const lock = await table.get<AcknowledgementLock>(key);
  if (lock === undefined) return;
  const { acknowledgementId: id } = lock;
  const silentMilliseconds = now.getTime() - Date.parse(lock.dueAt);
  if (silentMilliseconds < 1000 * Math.max(minimumSilenceSeconds, silenceSeconds)) return;
  const state = await readState(org, id);
  if (state === undefined) return;

  const progress = progressOf(state);
  const fruitlessWakes = progress === lock.progress ? lock.fruitlessWakes + 1 : 0;
  if (fruitlessWakes > maximumFruitlessWakes) {
    await end(org, id, "failed", logger);
    return;
  }
  const { written } = await table.attempt(
    table.update(key, { set: { fruitlessWakes, progress, dueAt: now.toISOString() }, if: heldBy(id) }),
  );
  // Not written: the request has ended since its lock was read.
  if (!written) return;
  logger.warn("acknowledging woken", { organizationId: org, acknowledgementId: id, fruitlessWakes });
  await queue.send(
    "acknowledgements",
    { organizationId: org, acknowledgementId: id },
    { group: String(org) },
  );
};

/** How far a request is, as a text that changes with any progress. */
const progressOf = ({ lanes }: State): string =>
  lanes.map((lane) => `${lane?.cursor}/${lane?.acknowledged}/${lane?.isDone}`).join(" ");
