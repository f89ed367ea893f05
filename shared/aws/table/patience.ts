/**
 * How long requests to the table last. The SDK's retry strategy tries again after throttling and lost
 * connections; this file tries again after conflicts with other requests, and ends everything before the
 * function's time is over.
 */
import { setTimeout as pause } from "node:timers/promises";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { isThrottlingError, isTransientError, StandardRetryStrategy } from "@smithy/core/retry";
import { Refusal } from "../../contract/errors.ts";

/** The last of so many tries begins about half a minute after the first, if the table throttles. */
export const maxAttempts = 8;

/** Outside of functions, conflicts are tried again for so long. */
const commandMilliseconds = 6_000;

/** A function that people wait for reserves this time to answer in. */
const answeringMilliseconds = 2_000;

/** A worker reserves this time to hand back its messages, at most a quarter of its remaining time. */
const reserveMilliseconds = 8_000;

/** What a client is told to wait, as a header in seconds. */
const retryAfterSeconds = 2;

/** Pauses after conflicts stay short, so that whoever came first is not overtaken by all who come later. */
const firstPauseMilliseconds = 20;
const longestPauseMilliseconds = 320;

/** It aborts what the invocation still sends to the table. Lambda gives a process one invocation at a time. */
let end: AbortSignal | undefined;

/** Runs the work of a function that a person waits for and that ends after `timeoutSeconds`. */
export const withTimeOfPeople = <R>(timeoutSeconds: number, work: () => Promise<R>): Promise<R> =>
  within(timeoutSeconds * 1_000 - answeringMilliseconds, work);

/** Runs the work of an invocation that has so much time left. */
export const withTimeOf = <R>(remainingMilliseconds: number, work: () => Promise<R>): Promise<R> =>
  within(remainingMilliseconds - Math.min(reserveMilliseconds, remainingMilliseconds / 4), work);

const within = async <R>(milliseconds: number, work: () => Promise<R>): Promise<R> => {
  const own = timeoutAt(Date.now() + milliseconds);
  end = own;
  try {
    return await work();
  } finally {
    if (end === own) end = undefined;
  }
};

const timeoutAt = (time: number): AbortSignal =>
  AbortSignal.timeout(Math.max(0, Math.ceil(time - Date.now())));

/** What each request is sent with. */
export type Sending = { abortSignal: AbortSignal };

/**
 * Sends a request to the table, and again after conflicts, until `until` at the latest. Throws the
 * refusal `busy` when the table throttles for too long, or does not answer in the function's time.
 * Outside of functions, if it does not answer, throws the SDK's error instead.
 */
export const patiently = <R>(send: (sending: Sending) => Promise<R>, until?: string): Promise<R> => {
  const isOfInvocation = end !== undefined;
  const signals = [end, until && timeoutAt(Date.parse(until))].filter((each) => each instanceof AbortSignal);
  const abortSignal = AbortSignal.any(signals);
  const sent = async (): Promise<R> => {
    try {
      return await send({ abortSignal });
    } catch (error) {
      const isBusy = abortSignal.aborted || isThrottled(error) || (isOfInvocation && isUnanswered(error));
      throw isBusy ? busy(error) : error;
    }
  };
  return whilePassing(sent, isConflict);
};

/**
 * Runs `attempt` again while it throws an error that `isPassing` recognizes, after random pauses, until the
 * time is over. Then it throws the refusal `busy`.
 */
export const whilePassing = async <R>(
  attempt: () => Promise<R>,
  isPassing: (error: unknown) => boolean,
): Promise<R> => {
  const ownEnd = end;
  const until = Date.now() + commandMilliseconds;
  for (let longest = firstPauseMilliseconds; ; longest = Math.min(2 * longest, longestPauseMilliseconds)) {
    try {
      return await attempt();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (ownEnd === undefined ? Date.now() > until : ownEnd.aborted) throw busy(error);
      await pause(Math.random() * longest);
    }
  }
};

const busy = (cause: unknown): Refusal =>
  Object.assign(new Refusal("busy", { headers: { "Retry-After": String(retryAfterSeconds) } }), { cause });

/** The SDK's strategy, which also recognizes a transaction that throttling cancelled. */
export class TableRetry extends StandardRetryStrategy {
  override refreshRetryTokenForRetry(
    ...[token, info]: Refresh
  ): ReturnType<Strategy["refreshRetryTokenForRetry"]> {
    const errorType = isThrottled(info.error) ? "THROTTLING" : info.errorType;
    return super.refreshRetryTokenForRetry(token, { ...info, errorType });
  }
}

type Strategy = StandardRetryStrategy;
type Refresh = Parameters<Strategy["refreshRetryTokenForRetry"]>;

/** DynamoDB did not process all of a batch. */
export class Unprocessed extends Error {
  override name = "Unprocessed";
}

const throttlingCodes = ["ThrottlingError", "ProvisionedThroughputExceeded"];

const conflictCodes = ["TransactionConflict", "TransactionConflictException", "Unprocessed"];

/** Why a request failed: the codes of the writes that cancelled a transaction, or an error's own name. */
const causesOf = (error: unknown): string[] => {
  if (!(error instanceof TransactionCanceledException)) return error instanceof Error ? [error.name] : [];
  return (error.CancellationReasons ?? []).map(({ Code = "None" }) => Code).filter((code) => code !== "None");
};

/**
 * A cancelled transaction counts only when throttling or conflicts are all that cancelled it: a failed
 * condition is final.
 */
const isThrottled = (error: unknown): boolean => {
  if (isThrottlingError(error as Parameters<typeof isThrottlingError>[0])) return true;
  const causes = causesOf(error);
  const isPassing = causes.every((code) => [...throttlingCodes, ...conflictCodes].includes(code));
  return isPassing && causes.some((code) => throttlingCodes.includes(code));
};

const isConflict = (error: unknown): boolean => {
  const causes = causesOf(error);
  return causes.length > 0 && causes.every((code) => conflictCodes.includes(code));
};

/** A timeout, a lost connection, or a server's error. */
const isUnanswered = (error: unknown): boolean =>
  isTransientError(error as Parameters<typeof isTransientError>[0]);
