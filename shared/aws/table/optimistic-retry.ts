import { whilePassing } from "./patience.ts";
import * as table from "./table.ts";

/**
 * Runs `attempt`, which reads rows and writes them in a transaction, again as long as it throws
 * `TransactionRefused`: another request then changed a row after it was read. Other errors are thrown; when
 * the time is over, the refusal `busy` (patience.ts).
 */
export const withOptimisticRetry = <R>(attempt: () => Promise<R>): Promise<R> =>
  whilePassing(attempt, (error) => error instanceof table.TransactionRefused);
