import type { Use } from "./endpoint.ts";
import type { QueueName } from "./messages.ts";

type Worker = {
  /** What people notice when this worker fails; the description of its alarm. */
  impact: string;
  uses: readonly Use[];
  timeoutSeconds: number;
  /** Default 256. */
  memoryMegabytes?: number;
  /** Waiting times as environment variables. A local run divides them by its `--speed`. */
  intervals?: Readonly<Record<`${string}_INTERVAL_SECONDS`, number>>;
};

/** Invoked once for each message of a queue. */
export type QueueWorker = Worker & {
  queue: QueueName;
  /** Concurrent invocations, 2 to 1000. */
  maximumConcurrency: number;
  /** The worker sends to its own queue on purpose, so Lambda must not stop it as a loop (RecursiveLoop). */
  recursive?: boolean;
};

/** Invoked at a fixed rate. */
export type ScheduledWorker = Worker & { everyMinutes: number };

/** Invoked by schedules that the product creates at run time in this group, each with its own input. */
export type OnDemandWorker = Worker & { scheduleGroup: string };

export const defineQueueWorker = <const W extends QueueWorker>(worker: W): W => worker;
export const defineScheduledWorker = <const W extends ScheduledWorker>(worker: W): W => worker;
export const defineOnDemandWorker = <const W extends OnDemandWorker>(worker: W): W => worker;

/** The environment variable with a queue's url. Not in messages.ts, since senders do not need the schemas. */
export const urlVariable = (queue: QueueName): string =>
  `${queue.toUpperCase().replaceAll("-", "_")}_QUEUE_URL`;
