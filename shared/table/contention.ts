/** Repeats what DynamoDB refuses because of concurrent requests: transaction conflicts, throttling. */
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";

/** Tries of one operation in all. */
export const maxTries = 10;

/**
 * Sends a request until DynamoDB does not refuse it because of contention, at most `maxTries` times; then the
 * last error is thrown. Other errors are thrown at once. After `signal` is aborted no further try begins.
 */
export const withContentionRetry = async <R>(send: () => Promise<R>, signal?: AbortSignal): Promise<R> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (attempt >= maxTries || !isContention(error) || signal?.aborted) throw error;
      await backOff(attempt);
    }
  }
};

/** Waits a random time of at most 20, 40, 80 … 1,280 ms after attempt 1, 2, 3 … */
export const backOff = (attempt: number): Promise<void> => {
  const milliseconds = Math.random() * 20 * 2 ** Math.min(attempt - 1, 6);
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
};

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
  return error instanceof Error && contentionCodes.has(error.name);
};
