/**
 * Repeats what DynamoDB refuses because of concurrent requests (transaction conflicts, throttling), and what it does not answer: for
 * people a few seconds, for workers the time that their invocation has left.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { isTransientError } from "@smithy/core/retry";
import { Refusal } from "../../contract/errors.ts";

/** The command line gives up after this time. */
const commandMilliseconds = 6_000;

/** A function that people wait for reserves this time to answer in. */
const answeringMilliseconds = 4_000;

/** A request that has no answer this long after the time is over is waited for no longer. It may still take effect. */
const lateMilliseconds = 2_000;

/** What a client is told to wait, as a header in seconds. */
const retryAfterSeconds = 2;

/** A worker reserves this time to save its results, or a third of its remaining time if that is less. */
const reserveMilliseconds = 10_000;

/**
 * Pauses double from the first to the longest. After conflicts they stay short, so that whoever came first is not overtaken by
 * all who come later; refusals of a throttled table consume its units.
 */
const pauses = {
  conflict: { firstMilliseconds: 20, longestMilliseconds: 320 },
  throttling: { firstMilliseconds: 200, longestMilliseconds: 6_400 },
} as const;

/** `isOfInvocation`: a function ends soon after it. */
type Deadline = { until: number; isOfInvocation: boolean };

const deadlines = new AsyncLocalStorage<Deadline>();

/**
 * Runs the work of a function that a person waits for and that ends after `timeoutSeconds`: all that it sends shares
 * this time, less four seconds to answer in.
 */
export const withTimeOfPeople = <R>(timeoutSeconds: number, work: () => Promise<R>): Promise<R> =>
  within(timeoutSeconds * 1_000 - answeringMilliseconds, work);

/** Runs the work of an invocation that has so much time left: what it sends is tried again for most of it. */
export const withTimeOf = <R>(remainingMilliseconds: number, work: () => Promise<R>): Promise<R> =>
  within(remainingMilliseconds - Math.min(reserveMilliseconds, remainingMilliseconds / 3), work);

const within = <R>(milliseconds: number, work: () => Promise<R>): Promise<R> =>
  deadlines.run({ until: Date.now() + milliseconds, isOfInvocation: true }, work);

/** Sends a request again until DynamoDB answers it without refusing it because of contention, or until the time is over. */
export const withContentionRetry = <R>(send: () => Promise<R>): Promise<R> =>
  whilePassing(send, (error) => isContention(error) || isUnanswered(error));

/**
 * Runs `attempt` again as long as it throws an error that `isPassing` recognizes, after random pauses, until the time
 * is over. Then it throws the refusal `busy`. Outside of functions, if the table did not answer, it throws that error instead.
 * Operations inside of `attempt` share the time.
 */
export const whilePassing = <R>(
  attempt: () => Promise<R>,
  isPassing: (error: unknown) => boolean,
): Promise<R> => {
  const deadline = deadlines.getStore() ?? {
    until: Date.now() + commandMilliseconds,
    isOfInvocation: false,
  };
  return deadlines.run(deadline, async () => {
    for (let count = 0; ; count++) {
      try {
        return await beforeLate(attempt(), deadline);
      } catch (error) {
        if (!isPassing(error)) throw error;
        const { firstMilliseconds, longestMilliseconds } =
          pauses[isThrottled(error) ? "throttling" : "conflict"];
        const milliseconds = Math.random() * Math.min(firstMilliseconds * 2 ** count, longestMilliseconds);
        if (Date.now() + milliseconds > deadline.until)
          throw isUnanswered(error) && !deadline.isOfInvocation ? error : busy(error);
        await pause(milliseconds);
      }
    }
  });
};

/** `request`; in an invocation the refusal `busy` when it has no answer in time. */
const beforeLate = async <R>(request: Promise<R>, { until, isOfInvocation }: Deadline): Promise<R> => {
  if (!isOfInvocation) return request;
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(busy(new Error("The table did not answer")));
    const timer = setTimeout(giveUp, Math.max(0, until + lateMilliseconds - Date.now()));
    request.then(resolve, reject).finally(() => clearTimeout(timer));
  });
};

const busy = (cause: unknown): Refusal =>
  Object.assign(new Refusal("busy", { headers: { "Retry-After": String(retryAfterSeconds) } }), { cause });

/** DynamoDB did not process all of a batch, because it was throttled. */
export class Unprocessed extends Error {
  override name = "Unprocessed";
}

const throttlingCodes = new Set([
  "ThrottlingError",
  "ThrottlingException",
  "ProvisionedThroughputExceeded",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
  "Unprocessed",
]);

const contentionCodes = new Set([
  ...throttlingCodes,
  "TransactionConflict",
  "TransactionConflictException",
  "TransactionInProgressException",
]);

/** Why a request failed: the codes of the writes that cancelled a transaction, or an error's own name. */
const causesOf = (error: unknown): string[] => {
  if (!(error instanceof TransactionCanceledException)) return error instanceof Error ? [error.name] : [];
  return (error.CancellationReasons ?? []).map(({ Code = "None" }) => Code).filter((code) => code !== "None");
};

const isThrottled = (error: unknown): boolean => causesOf(error).some((code) => throttlingCodes.has(code));

/** A timeout, a lost connection, or a server's error. */
const isUnanswered = (error: unknown): boolean =>
  isTransientError(error as Parameters<typeof isTransientError>[0]);

/** A cancelled transaction counts only when contention is all that cancelled it: a failed condition is final. */
const isContention = (error: unknown): boolean => {
  const causes = causesOf(error);
  return causes.length > 0 && causes.every((code) => contentionCodes.has(code));
};
