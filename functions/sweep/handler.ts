import { sweepMail } from "../../shared/access/sign-in/mail-row.ts";
import { deleteHistory } from "../../shared/alerting/deliveries/history.ts";
import { isRedispatchSilent } from "../../shared/alerting/deliveries/redispatch.ts";
import { type Invocation, scheduled } from "../../shared/aws/queue/consume.ts";
import { failedRows, forEachDue, reserveSeconds } from "../../shared/aws/queue/due-rows.ts";
import { type DueKind, type Key, organizationOf } from "../../shared/aws/table/keys.ts";
import { silentSchedule } from "../../shared/contract/log-lines.ts";
import { sweepAcknowledgement } from "../../shared/findings/acknowledgements/sweep.ts";
import { sweepRemoval } from "../../shared/findings/email-removal.ts";
import { sweepMark } from "../../shared/findings/rules/marks.ts";
import { isSyncSilent } from "../../shared/hibp/subscription-state.ts";
import { type ProofIntervals, recheck } from "../../shared/monitoring/domains/proof.ts";
import * as deletion from "../../shared/operations/deletion.ts";
import { sweepTasks } from "../../shared/people/follow/work.ts";
import { sweepScan } from "../../shared/scanning/sweep.ts";

export const handler = scheduled((_, invocation) =>
  sweep(invocation, {
    silenceSeconds: Number(process.env.SILENCE_INTERVAL_SECONDS),
    deletionSeconds: Number(process.env.DELETION_INTERVAL_SECONDS),
    daySeconds: Number(process.env.PROOF_INTERVAL_SECONDS),
    lossSeconds: Number(process.env.PROOF_LOSS_INTERVAL_SECONDS),
  }),
);

type SweepSettings = {
  /** Silence of the workers of a job, after which one is woken. */
  silenceSeconds: number;
  /** From the beginning of an organization's deletion until its rows are deleted. */
  deletionSeconds: number;
} & ProofIntervals;

/**
 * Wakes workers of silent jobs: scans, requests to change many findings, removals of e-mails, and mails.
 * Deletes rows of removed alert channels and organizations. Looks up the records of proved domains. Logs
 * which other schedules do not run.
 */
export const sweep = async (invocation: Invocation, settings: SweepSettings): Promise<void> => {
  const now = new Date();
  const { logger } = invocation;
  const jobs = { now, silenceSeconds: settings.silenceSeconds, logger };
  const hasTime = () => invocation.remainingSeconds() > reserveSeconds;
  const handlers: Record<
    Exclude<DueKind, "DELIVERY" | "OUTBOX" | "SCAN-REQUEST">,
    (key: Key) => Promise<unknown>
  > = {
    SCAN: (key) => sweepScan(key, jobs),
    REMOVAL: (key) => sweepRemoval(key, jobs),
    ACKNOWLEDGEMENT: (key) => sweepAcknowledgement(key, jobs),
    "RULE-MARK": (key) => sweepMark(key, jobs),
    "SIGN-IN-MAIL": (key) => sweepMail(key, jobs),
    DIRECTORY: sweepTasks(),
    // A long history, and a large organization, take all the time that is left.
    "CHANNEL-REMOVAL": (key) => deleteHistory(organizationOf(key), Number(key.sk), hasTime),
    DELETION: (key) => deletion.resume(key, settings.deletionSeconds, hasTime),
    // The last: name servers that do not answer take time.
    "DOMAIN-PROOF": (key) => recheck(key, settings, logger),
  };
  let failures = 0;
  for (const [kind, handle] of Object.entries(handlers)) {
    const silenceSeconds =
      { "DOMAIN-PROOF": settings.daySeconds, DIRECTORY: settings.silenceSeconds }[kind] ?? 0;
    const before = new Date(now.getTime() - 1_000 * silenceSeconds);
    failures += await forEachDue(kind as DueKind, before, invocation, handle);
  }
  await watchSchedules(invocation);
  if (failures > 0) throw failedRows(failures);
};

/** The other schedules, by what each of them leaves undone when it does not run. */
const isSilent: Readonly<Record<string, (now: Date) => Promise<boolean>>> = {
  "redispatch-alerts": isRedispatchSilent,
  "sync-catalog": isSyncSilent,
};

/**
 * Logs which other schedules do not run, for the alarm on failed runs. The sweep itself has an alarm on not running.
 */
const watchSchedules = async ({ logger }: Invocation): Promise<void> => {
  for (const [schedule, isSilentAt] of Object.entries(isSilent)) {
    if (await isSilentAt(new Date())) logger.error(silentSchedule, { schedule });
  }
};
