import { setTimeout } from "node:timers/promises";
import * as table from "./table.ts";

const maximumAttempts = 8;

/**
 * Reads and writes again while the transaction is refused because a row changed after it was read. The last refusal is
 * thrown. What must not be tried again has to throw something else.
 */
export const retrying = async <R>(attempt: () => Promise<R>): Promise<R> => {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof table.TransactionRefused) || count >= maximumAttempts) throw error;
      // Those who want the same row at once come back one after the other.
      await setTimeout(Math.random() * 10 * 2 ** count);
    }
  }
};
