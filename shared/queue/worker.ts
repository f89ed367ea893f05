import type { Use } from "../api/endpoint.ts";
import type { QueueName } from "./messages.ts";

type Worker = {
  /** What people notice when this worker fails: the text of its alarm. */
  impact: string;
  uses: readonly Use[];
  timeoutSeconds: number;
  /** Default 256. */
  memoryMegabytes?: number;
  /**
   * Waiting times of the product, as environment variables whose names end in `_INTERVAL_SECONDS`; a local run can
   * make them pass faster.
   */
  intervals?: Readonly<Record<`${string}_INTERVAL_SECONDS`, number>>;
};

/** Works through the messages of one queue, each in an invocation of its own. */
export type QueueWorker = Worker & {
  queue: QueueName;
  /** Invocations at the same time, 2 to 1000. */
  maximumConcurrency: number;
  /** While it waits it takes further messages itself (meanwhile.ts), so it is told where its queue is. */
  takesMeanwhile?: boolean;
  /** The worker sends messages to its own queue on purpose (RecursiveLoop: Allow). */
  recursive?: boolean;
};

/** Runs at a fixed rate. */
export type ScheduledWorker = Worker & { everyMinutes: number };

/** Invoked by schedules that are created at run time, each with its own input. */
export type OnDemandWorker = Worker & { scheduleGroup: string };

export const defineQueueWorker = <const W extends QueueWorker>(worker: W): W => worker;
export const defineScheduledWorker = <const W extends ScheduledWorker>(worker: W): W => worker;
export const defineOnDemandWorker = <const W extends OnDemandWorker>(worker: W): W => worker;

/** The environment variable that tells who sends to a queue where it is. Not in messages.ts: senders would load the schemas. */
export const urlVariable = (queue: QueueName): string =>
  `${queue.toUpperCase().replaceAll("-", "_")}_QUEUE_URL`;
