import { deleteHistory } from "../../shared/alerts/history.ts";
import * as emails from "../../shared/emails/email.ts";
import * as deletion from "../../shared/organizations/deletion.ts";
import type { Invocation } from "../../shared/queue/consume.ts";
import { scheduled } from "../../shared/queue/scheduled.ts";
import { startRequested } from "../../shared/scans/request.ts";
import { sweepScan } from "../../shared/scans/sweep.ts";
import { type DueKind, dueIndex, dueShardsOf, type Key, organizationOf } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";

/** Time for what has begun: nothing else is begun any more. */
const reserveSeconds = 30;

/** Acts at the same time, so that organizations do not wait for one whose act takes long. */
const width = 10;

export const handler = scheduled((_, invocation) =>
  sweep(invocation, {
    silenceSeconds: Number(process.env.SILENCE_INTERVAL_SECONDS),
    deletionSeconds: Number(process.env.DELETION_INTERVAL_SECONDS),
  }),
);

/** Settings of the sweep, in seconds. */
type SweepSettings = {
  /** Silence after which a scan's workers are woken again. */
  silenceSeconds: number;
  /** From the beginning of an organization's deletion until its rows are deleted. */
  deletionSeconds: number;
};

/**
 * Starts scans that are requested, and goes on with what was cut off: scans whose workers have been silent, removals of
 * e-mails and alert channels, and organizations whose deletion began long enough ago.
 */
export const sweep = async (invocation: Invocation, settings: SweepSettings): Promise<void> => {
  const now = new Date();
  const mayGoOn = () => invocation.remainingSeconds() > reserveSeconds;
  const acts: Record<Exclude<DueKind, "DELIVERY">, (key: Key) => Promise<unknown>> = {
    SCAN: (key) => sweepScan(key, now, invocation, settings),
    "SCAN-REQUEST": (key) => startRequested(key, invocation.logger),
    REMOVAL: (key) => emails.resumeRemoval(organizationOf(key), Number(key.sk)),
    "CHANNEL-REMOVAL": (key) => deleteHistory(organizationOf(key), Number(key.sk), mayGoOn),
    DELETION: (key) => deletion.resume(key, settings.deletionSeconds, mayGoOn),
  };
  let failures = 0;
  for (const [kind, act] of Object.entries(acts)) {
    failures += await forEachDue(kind as DueKind, now, invocation, act);
  }
  if (failures > 0) throw new Error(`${failures} of what was due failed`);
};

/** One that fails is logged and stays due; the others go on. How many failed. */
const forEachDue = async (
  kind: DueKind,
  now: Date,
  { logger, remainingSeconds }: Invocation,
  act: (key: Key) => Promise<unknown>,
): Promise<number> => {
  let failures = 0;
  const due = dueKeys(kind, now);
  const takeTurns = async (): Promise<void> => {
    for await (const key of due) {
      if (remainingSeconds() < reserveSeconds) return;
      try {
        await act(key);
      } catch (error) {
        failures++;
        logger.error("sweep failed", { kind, organizationId: organizationOf(key), error: error as Error });
      }
    }
  };
  // Also when what is due cannot be read any further: nothing goes on after the function's end.
  const turns = await Promise.allSettled(Array.from({ length: width }, takeTurns));
  const broken = turns.find((turn) => turn.status === "rejected");
  if (broken !== undefined) throw broken.reason;
  return failures;
};

async function* dueKeys(kind: DueKind, now: Date): AsyncGenerator<Key, void, undefined> {
  for (const pk of dueShardsOf(kind)) {
    for await (const page of table.queryPages<Key>({ index: dueIndex, pk, to: now.toISOString() }))
      yield* page;
  }
}
