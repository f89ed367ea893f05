/**
 * Repeats what DynamoDB refuses because of concurrent requests (transaction conflicts, throttling), and in functions also
 * what it does not answer.
 */
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { isTransientError } from "@smithy/core/retry";
import { isTimed, pace, whilePassing } from "./patience.ts";

/**
 * Sends a request until DynamoDB does not refuse it because of contention, or the time is over (patience.ts). Timeouts
 * and lost connections count as contention in functions; the command line shows them at once.
 * Other errors are thrown at once. After `signal` is aborted no further try begins.
 */
export const withContentionRetry = <R>(send: () => Promise<R>, signal?: AbortSignal): Promise<R> =>
  whilePassing(send, isPassing, signal);

/**
 * Sends a transaction, in workers no sooner than a throttled table takes it. Refused transactions consume
 * units too, so that ten workers which only try again would keep the table throttled for ever.
 */
export const paced = async <R>(send: () => Promise<R>): Promise<R> => {
  const limiter = pace();
  await limiter?.getSendToken();
  try {
    const reply = await send();
    limiter?.updateClientSendingRate(reply);
    return reply;
  } catch (error) {
    limiter?.updateClientSendingRate(isThrottled(error) ? { errorType: "THROTTLING" } : error);
    throw error;
  }
};

/** DynamoDB did not process all of a batch, because it was throttled. */
export class Unprocessed extends Error {}

const throttlingCodes = new Set([
  "ThrottlingError",
  "ThrottlingException",
  "ProvisionedThroughputExceeded",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
]);

const contentionCodes = new Set([
  ...throttlingCodes,
  "TransactionConflict",
  "TransactionConflictException",
  "TransactionInProgressException",
]);

/** Why a transaction was cancelled. Writes that did not cause it have no reason. */
const causesOf = (error: TransactionCanceledException): string[] =>
  (error.CancellationReasons ?? []).map(({ Code = "None" }) => Code).filter((code) => code !== "None");

const isThrottled = (error: unknown): boolean =>
  error instanceof TransactionCanceledException
    ? causesOf(error).some((code) => throttlingCodes.has(code))
    : error instanceof Error && throttlingCodes.has(error.name);

const isPassing = (error: unknown): boolean =>
  isContention(error) || (isTimed() && error instanceof Error && isTransientError(error as SdkError));

type SdkError = Parameters<typeof isTransientError>[0];

/**
 * A cancelled transaction counts only when contention is all that cancelled it: a failed condition is final.
 */
const isContention = (error: unknown): boolean => {
  if (error instanceof TransactionCanceledException) {
    const causes = causesOf(error);
    return causes.length > 0 && causes.every((code) => contentionCodes.has(code));
  }
  if (error instanceof Unprocessed) return true;
  return error instanceof Error && contentionCodes.has(error.name);
};
