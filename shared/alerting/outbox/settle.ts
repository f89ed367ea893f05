import * as queue from "../../aws/queue/queue.ts";
import type { Write } from "../../aws/table/condition.ts";
import * as table from "../../aws/table/table.ts";
import { deliveries, type Raised } from "../deliveries/delivery.ts";

/**
 * Writes deliveries and takes what they tell off the outbox, in one transaction. `off`: the writes on rows of
 * the outbox, which fail when another worker has dealt with them; then this gives false. Throws
 * `TransactionRefused` when a write of `also` fails.
 */
export const settle = async (
  org: number,
  off: readonly Write[],
  { writes, messages }: Raised = { writes: [], messages: [] },
  also: readonly Write[] = [],
): Promise<boolean> => {
  const transaction = await table.attempt(
    table.transact([...off, ...deliveries.writes(org, writes), ...also]),
  );
  if (!transaction.written) {
    if (transaction.failed.some(({ index }) => index < off.length)) return false;
    throw new table.TransactionRefused(transaction.failed);
  }
  // The re-dispatch sends what SQS does not take.
  await queue.sendPossible("deliveries", messages);
  return true;
};
