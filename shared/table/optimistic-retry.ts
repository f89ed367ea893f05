import { setTimeout } from "node:timers/promises";
import * as table from "./table.ts";

const maximumAttempts = 8;

/**
 * Runs `attempt`, which reads rows and writes them in a transaction, again as long as it throws
 * `TransactionRefused`: another request then changed a row after it was read. Other errors, and the eighth
 * refusal, are thrown.
 */
export const withOptimisticRetry = async <R>(attempt: () => Promise<R>): Promise<R> => {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof table.TransactionRefused) || count >= maximumAttempts) throw error;
      // Random, so that requests that want the same row come back one after the other.
      await setTimeout(Math.random() * 10 * 2 ** count);
    }
  }
};
