/**
 * A job is work that outlasts the function that began it. Its row is in the due index until the work is
 * over. A message wakes a worker; where messages get lost or workers die, the sweep wakes another one.
 * See docs/data-model.md, "Jobs".
 */
import type { Logger } from "@aws-lambda-powertools/logger";
import { renewalSeconds } from "../../contract/job-timing.ts";
import { asRead } from "../table/condition.ts";
import { type DueKind, dueShard, type Key, organizationOf } from "../table/keys.ts";
import * as table from "../table/table.ts";

/** What every job has in its row, beside what it is about. */
export type Job = {
  dueShard: string;
  /**
   * The last sign of life: when the job began, a worker last wrote the row, or a sweep last woke a
   * worker. In the future while a worker waits.
   */
  dueAt: string;
  /** How many sweeps in a row have woken a worker at the same progress. */
  wakes: number;
  /** The progress at the last sweep that woke a worker. */
  progress: string;
};

/** A job that begins `at` this time (ISO 8601). */
export const newJob = (kind: DueKind, id: number, at = new Date().toISOString()): Job => ({
  dueShard: dueShard(kind, id),
  dueAt: at,
  wakes: 0,
  progress: "",
});

/**
 * A worker's sign of life, for each of its writes of the row. `waitSeconds`: how long it waits now,
 * which is no silence.
 */
export const alive = (waitSeconds = 0): Pick<Job, "dueAt"> => ({
  dueAt: new Date(Date.now() + 1_000 * waitSeconds).toISOString(),
});

/** With twice the silence after each, so many wakes take more than an hour. */
const maximumWakes = 5;

/** The least silence, for local runs that shorten all waiting times: a sign of life may be two seconds late. */
const minimumSilenceSeconds = renewalSeconds + 2;

export type Sweep = { now: Date; silenceSeconds: number; logger: Logger };

type Work = {
  /** How far the work is, as a text that changes with any progress. Default: it has one step. */
  progress?: string;
  /** Sends the message of a worker, or does the work. */
  wake: () => Promise<void>;
  /** Ends a job that was woken in vain. Default: it is woken until its work is done. */
  giveUp?: () => Promise<unknown>;
};

/**
 * Wakes a worker of a job whose workers are silent. `job`: as it was read before the work's progress.
 * After each wake in vain it may be silent for twice as long: its messages may wait behind those of
 * others, and more would make these wait longer.
 */
export const sweepJob = async (
  key: Key,
  job: Job,
  { progress = "", wake, giveUp }: Work,
  { now, silenceSeconds, logger }: Sweep,
): Promise<void> => {
  const wakes = progress === job.progress ? job.wakes : 0;
  const silence = 1_000 * Math.max(minimumSilenceSeconds, silenceSeconds) * 2 ** wakes;
  if (now.getTime() - Date.parse(job.dueAt) < silence) return;
  // The silence is now longer than any worker runs.
  if (wakes >= maximumWakes && giveUp !== undefined) {
    await giveUp();
    return;
  }
  const set = { wakes: Math.min(wakes + 1, maximumWakes), progress, dueAt: now.toISOString() };
  // Not written: the job has gone on or ended since its row was read.
  if (!(await table.attempt(table.update(key, { set, if: asRead({ dueAt: job.dueAt }) }))).written) return;
  logger.warn("job woken", { kind: job.dueShard.split("#")[0], organizationId: organizationOf(key), wakes });
  await wake();
};
