/** Repeats what DynamoDB refuses because of concurrent requests: transaction conflicts, throttling. */
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";

import { whilePassing } from "./patience.ts";

/**
 * Sends a request until DynamoDB does not refuse it because of contention, or the time is over (patience.ts).
 * Other errors are thrown at once. After `signal` is aborted no further try begins.
 */
export const withContentionRetry = <R>(send: () => Promise<R>, signal?: AbortSignal): Promise<R> =>
  whilePassing(send, isContention, signal);

/** DynamoDB did not process all of a batch, because it was throttled. */
export class Unprocessed extends Error {}

const contentionCodes = new Set([
  "TransactionConflict",
  "TransactionConflictException",
  "TransactionInProgressException",
  "ThrottlingError",
  "ThrottlingException",
  "ProvisionedThroughputExceeded",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
]);

/**
 * A cancelled transaction counts only when contention is all that cancelled it: a failed condition is final.
 */
const isContention = (error: unknown): boolean => {
  if (error instanceof TransactionCanceledException) {
    const codes = (error.CancellationReasons ?? []).map((reason) => reason.Code ?? "None");
    const causes = codes.filter((code) => code !== "None");
    return causes.length > 0 && causes.every((code) => contentionCodes.has(code));
  }
  if (error instanceof Unprocessed) return true;
  return error instanceof Error && contentionCodes.has(error.name);
};
