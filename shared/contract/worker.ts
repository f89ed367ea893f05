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

/** Invoked for messages of a queue. */
export type QueueWorker = Worker & {
  queue: QueueName;
  /** The most messages of an invocation, 1 to 10. Default 1. */
  batchSize?: number;
  /**
   * Concurrent invocations, 2 to 1000. Undefined where the messages themselves are few, since a maximum makes an
   * idle queue dearer.
   */
  maximumConcurrency?: number;
  /** Its queue is not polled in a stack without a sender of e-mail. */
  needsSender?: boolean;
  /** The worker sends to its own queue on purpose, so Lambda must not stop it as a loop (RecursiveLoop). */
  recursive?: boolean;
};

/** Invoked at a fixed rate. */
export type ScheduledWorker = Worker & {
  everyMinutes: number;
  /** Has an alarm on not running, because it watches the other schedules. */
  isWatchman?: boolean;
};

/** Invoked by schedules that the product creates at run time in this group, each with its own input. */
export type OnDemandWorker = Worker & {
  scheduleGroup: string;
  /** How long Lambda tries to run it for one event, 1 to 6. */
  maximumEventAgeHours: number;
};

export const defineQueueWorker = <const W extends QueueWorker>(worker: W): W => worker;
export const defineScheduledWorker = <const W extends ScheduledWorker>(worker: W): W => worker;
export const defineOnDemandWorker = <const W extends OnDemandWorker>(worker: W): W => worker;

/** The environment variable with a queue's url. Not in messages.ts, since senders do not need the schemas. */
export const urlVariable = (queue: QueueName): string =>
  `${queue.toUpperCase().replaceAll("-", "_")}_QUEUE_URL`;
