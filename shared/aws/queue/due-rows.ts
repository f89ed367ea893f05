import { type DueKind, dueIndex, dueShardsOf, type Key, organizationOf } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { Invocation } from "./consume.ts";

/** With less time left no further row is begun, so that the rows at work can be finished. */
export const reserveSeconds = 30;

/** How many due rows are worked on at the same time, so that slow ones hold up no other. */
const concurrency = 10;

/** Handles all due rows of a kind and returns how many failed. A failure is logged, and its row stays due. */
export const forEachDue = async (
  kind: DueKind,
  now: Date,
  { logger, remainingSeconds }: Invocation,
  handle: (key: Key) => Promise<unknown>,
): Promise<number> => {
  let failures = 0;
  const due = dueKeys(kind, now);
  const handleNext = async (): Promise<void> => {
    for await (const key of due) {
      if (remainingSeconds() < reserveSeconds) return;
      try {
        await handle(key);
      } catch (error) {
        failures++;
        logger.error("due row failed", { kind, organizationId: organizationOf(key), error: error as Error });
      }
    }
  };
  // If reading the due rows fails, rows at work are finished first: no work may outlast the function.
  const lanes = await Promise.allSettled(Array.from({ length: concurrency }, handleNext));
  const broken = lanes.find((lane) => lane.status === "rejected");
  if (broken !== undefined) throw broken.reason;
  return failures;
};

/** The error of a worker that could not handle all due rows. */
export const failedRows = (count: number): Error =>
  new Error(`${count} due rows failed; the log names them, and the next run tries again`);

async function* dueKeys(kind: DueKind, now: Date): AsyncGenerator<Key, void, undefined> {
  for (const pk of dueShardsOf(kind)) {
    for await (const page of table.queryPages<Key>({ index: dueIndex, pk, to: now.toISOString() }))
      yield* page;
  }
}
