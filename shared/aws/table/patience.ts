/**
 * Until when operations that DynamoDB refuses because of other requests are tried again: for people a few
 * seconds, for workers the time that their invocation has left.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { DefaultRateLimiter, type RateLimiter } from "@smithy/core/retry";
import { Refusal } from "../../contract/errors.ts";

/** People get an answer after this time; API Gateway would wait for 29 seconds. */
const peopleMilliseconds = 6_000;

/** A function that people wait for reserves this time to answer in. */
const answeringMilliseconds = 4_000;

/** A request that has no answer this long after the time is over is waited for no longer. It may still take effect. */
const lateMilliseconds = 2_000;

/** Pauses are at most this long, so that whoever came first is not overtaken by all who come later. */
const longestPauseMilliseconds = 320;

/** What a client is told to wait, as a header in seconds. */
const retryAfterSeconds = 2;

/** A worker reserves this time to save its results, or a third of its remaining time if that is less. */
const reserveMilliseconds = 10_000;

/**
 * `isOfInvocation`: a function ends soon after it. `pace`: of a worker's transactions, so that they come no sooner than a
 * throttled table takes them.
 */
type Deadline = { until: number; isOfInvocation: boolean; pace?: RateLimiter };

const deadlines = new AsyncLocalStorage<Deadline>();

/** Whether this runs in an invocation of a function, which says until when. */
export const isTimed = (): boolean => deadlines.getStore()?.isOfInvocation === true;

export const pace = (): RateLimiter | undefined => deadlines.getStore()?.pace;

/**
 * Runs the work of a function that a person waits for and that ends after `timeoutSeconds`: all that it sends shares
 * this time, less four seconds to answer in.
 */
export const withTimeOfPeople = <R>(timeoutSeconds: number, work: () => Promise<R>): Promise<R> =>
  deadlines.run(
    { until: Date.now() + timeoutSeconds * 1_000 - answeringMilliseconds, isOfInvocation: true },
    work,
  );

/** Runs the work of an invocation that has so much time left: what it sends is tried again for most of it. */
export const withTimeOf = <R>(remainingMilliseconds: number, work: () => Promise<R>): Promise<R> => {
  const reserve = Math.min(reserveMilliseconds, remainingMilliseconds / 3);
  const until = Date.now() + remainingMilliseconds - reserve;
  return deadlines.run({ until, isOfInvocation: true, pace: new DefaultRateLimiter() }, work);
};

/**
 * Runs `attempt` again as long as it throws an error that `isPassing` recognizes, after short random pauses,
 * until the time of the invocation or else 6 seconds are over. Then it throws the refusal `busy`. Operations
 * inside of `attempt` share the time. After `signal` is aborted no further try begins.
 */
export const whilePassing = <R>(
  attempt: () => Promise<R>,
  isPassing: (error: unknown) => boolean,
  signal?: AbortSignal,
): Promise<R> => {
  const deadline = deadlines.getStore() ?? { until: Date.now() + peopleMilliseconds, isOfInvocation: false };
  return deadlines.run(deadline, async () => {
    for (let count = 1; ; count++) {
      try {
        return await beforeLate(attempt(), deadline);
      } catch (error) {
        if (!isPassing(error) || signal?.aborted) throw error;
        const longest = Math.min(20 * 2 ** (count - 1), longestPauseMilliseconds);
        const milliseconds = Math.random() * longest;
        if (Date.now() + milliseconds > deadline.until) throw busy(error);
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
