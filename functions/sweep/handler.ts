import * as signInMails from "../../shared/access/sign-in/request.ts";
import { deleteHistory } from "../../shared/alerting/deliveries/history.ts";
import { isRedispatchSilent } from "../../shared/alerting/deliveries/redispatch.ts";
import { tell } from "../../shared/alerting/deliveries/tell.ts";
import type { Invocation } from "../../shared/aws/queue/consume.ts";
import { scheduled } from "../../shared/aws/queue/scheduled.ts";
import {
  type DueKind,
  dueIndex,
  dueShardsOf,
  type Key,
  organizationOf,
} from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { silentSchedule } from "../../shared/contract/log-lines.ts";
import { proofDaySeconds, proofLossSeconds } from "../../shared/contract/proof-timing.ts";
import { sweepAcknowledgement } from "../../shared/findings/acknowledgements/sweep.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import * as domainRemovals from "../../shared/monitoring/domains/domain-removal.ts";
import { type ProofIntervals, recheck } from "../../shared/monitoring/domains/proof.ts";
import { isSyncSilent } from "../../shared/monitoring/hibp/subscription-state.ts";
import * as teamRemovals from "../../shared/monitoring/teams/team-removal.ts";
import * as deletion from "../../shared/operations/deletion.ts";
import { startRequestedScan } from "../../shared/scanning/scan-request.ts";
import { sweepScan } from "../../shared/scanning/sweep.ts";

/** With less time left no further row is begun, so that the rows at work can be finished. */
const reserveSeconds = 30;

/** How many due rows are worked on at the same time, so that slow ones do not keep all others waiting. */
const concurrency = 10;

export const handler = scheduled((_, invocation) =>
  sweep(invocation, {
    silenceSeconds: Number(process.env.SILENCE_INTERVAL_SECONDS),
    deletionSeconds: Number(process.env.DELETION_INTERVAL_SECONDS),
    daySeconds: Number(process.env.PROOF_INTERVAL_SECONDS),
    lossSeconds: Number(process.env.PROOF_LOSS_INTERVAL_SECONDS),
  }),
);

type SweepSettings = {
  /** Silence of the workers of a scan, or of a request to acknowledge findings, after which one is woken. */
  silenceSeconds: number;
  /** From the beginning of an organization's deletion until its rows are deleted. */
  deletionSeconds: number;
} & Partial<ProofIntervals>;

/**
 * Starts requested scans, and continues interrupted work: scans and requests to acknowledge findings whose
 * workers have been silent, removals of e-mails, alert channels, teams and domains, deletions of organizations,
 * and mails with sign-in links. Looks up the records of proved domains. Logs which other schedules do not run.
 */
export const sweep = async (invocation: Invocation, settings: SweepSettings): Promise<void> => {
  const now = new Date();
  const { daySeconds = proofDaySeconds, lossSeconds = proofLossSeconds } = settings;
  const hasTime = () => invocation.remainingSeconds() > reserveSeconds;
  const handlers: Record<Exclude<DueKind, "DELIVERY">, (key: Key) => Promise<unknown>> = {
    SCAN: (key) => sweepScan(key, now, invocation, settings),
    "SCAN-REQUEST": (key) => startRequestedScan(key, invocation.logger),
    REMOVAL: (key) => removals.resume(organizationOf(key), Number(key.sk)),
    "CHANNEL-REMOVAL": (key) => deleteHistory(organizationOf(key), Number(key.sk), hasTime),
    ACKNOWLEDGEMENT: (key) => sweepAcknowledgement(key, now, invocation, settings),
    "TEAM-REMOVAL": (key) => teamRemovals.resume(organizationOf(key), Number(key.sk), hasTime),
    "DOMAIN-REMOVAL": (key) => domainRemovals.resume(organizationOf(key), Number(key.sk)),
    "SIGN-IN-MAIL": (key) => signInMails.sendAgain(key, now),
    DELETION: (key) => deletion.resume(key, settings.deletionSeconds, hasTime),
    // The last: name servers that do not answer take time.
    "DOMAIN-PROOF": (key) => recheck(key, { daySeconds, lossSeconds }, { tell, logger: invocation.logger }),
  };
  let failures = 0;
  for (const [kind, handle] of Object.entries(handlers)) {
    failures += await forEachDue(kind as DueKind, now, invocation, handle);
  }
  await watchSchedules(invocation);
  if (failures > 0)
    throw new Error(`${failures} due rows failed; the log names them, and the next sweep tries again`);
};

/** The other schedules, by what each of them leaves undone when it does not run. */
const isSilent: Readonly<Record<string, (now: Date) => Promise<boolean>>> = {
  "redispatch-alerts": isRedispatchSilent,
  "sync-catalog": isSyncSilent,
};

/** Logs which other schedules do not run, for the alarm on failed runs. The sweep itself has an alarm on not running. */
const watchSchedules = async ({ logger }: Invocation): Promise<void> => {
  for (const [schedule, isSilentAt] of Object.entries(isSilent)) {
    if (await isSilentAt(new Date())) logger.error(silentSchedule, { schedule });
  }
};

/** Handles all due rows of a kind and returns how many failed. A failure is logged, and its row stays due. */
const forEachDue = async (
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
        logger.error("sweep failed", { kind, organizationId: organizationOf(key), error: error as Error });
      }
    }
  };
  // If reading the due rows fails, rows at work are finished first: no work may outlast the function.
  const lanes = await Promise.allSettled(Array.from({ length: concurrency }, handleNext));
  const broken = lanes.find((lane) => lane.status === "rejected");
  if (broken !== undefined) throw broken.reason;
  return failures;
};

async function* dueKeys(kind: DueKind, now: Date): AsyncGenerator<Key, void, undefined> {
  for (const pk of dueShardsOf(kind)) {
    for await (const page of table.queryPages<Key>({ index: dueIndex, pk, to: now.toISOString() }))
      yield* page;
  }
}
