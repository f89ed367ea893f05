import type { Invocation } from "../../aws/queue/consume.ts";
import * as queue from "../../aws/queue/queue.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { dueIndex, dueShardsOf, type Key, organizationOf } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { type Delivery, deliveries } from "./delivery.ts";
import { takeDue } from "./transitions.ts";

/** Deliveries of one shard that are taken at the same time, and whose messages are one batch. */
const concurrency = 10;

/** Nothing new is begun in the last seconds of the invocation. */
const reserveSeconds = 10;

type DueRow = Key & { dueAt: string };

/**
 * Sends a message for every delivery that is due: the next dispatch of a failing delivery, or a replacement
 * for a lost message. Stops when the invocation's time runs low; the rest stays due. A delivery that cannot
 * be re-dispatched is due again in a minute and does not hold up the others; an error that counts such
 * deliveries is thrown at the end.
 */
export const redispatch = async ({ logger, remainingSeconds }: Invocation): Promise<void> => {
  const now = new Date().toISOString();
  const outcome: Outcome = { sent: 0, failed: 0, error: undefined };
  const redispatchShard = async (pk: string): Promise<void> => {
    const pages = table.queryPages<DueRow>({ index: dueIndex, pk, to: now });
    for await (const page of pages) {
      for (const rows of chunk(page, concurrency)) {
        if (remainingSeconds() < reserveSeconds) {
          logger.warn("re-dispatch stopped early", { shard: pk });
          return;
        }
        await redispatchRows(rows, outcome);
      }
    }
  };
  // All shards at once: after an outage no shard waits for the backlog of another.
  await Promise.all(dueShardsOf("DELIVERY").map(redispatchShard));
  const { sent, failed, error } = outcome;
  if (sent + failed > 0) logger.info("re-dispatch", { sent, failed });
  if (failed > 0) {
    throw new Error(`${failed} deliveries were not re-dispatched; they are due again in a minute`, {
      cause: error,
    });
  }
};

/**
 * `error`: why the last failed one failed, if that is known. Deliveries that somebody else took are in neither number.
 */
type Outcome = { sent: number; failed: number; error: unknown };

/**
 * Takes the deliveries, then sends their messages in as few requests as there are queues, and adds up the
 * outcome. A message that SQS does not accept is as good as lost: its delivery is due again in a minute.
 */
const redispatchRows = async (due: readonly DueRow[], outcome: Outcome): Promise<void> => {
  const taken: Outgoing[] = [];
  const takings = due.map(async (row) => outgoingOf(row, await takeDue(row, row.dueAt)));
  for (const settled of await Promise.allSettled(takings)) {
    if (settled.status === "rejected") {
      outcome.failed++;
      outcome.error = settled.reason;
    } else if (settled.value !== undefined) taken.push(settled.value);
  }
  for (const [name, messages] of Map.groupBy(taken, ({ queueName }) => queueName)) {
    const { failed, error } = await queue.sendPossible(name, messages);
    outcome.sent += messages.length - failed;
    outcome.failed += failed;
    outcome.error = error ?? outcome.error;
  }
};

type Outgoing = ReturnType<typeof outgoingOf> & {};

const outgoingOf = (due: DueRow, row: Delivery | undefined) => {
  if (row === undefined) return undefined;
  const { channelId } = deliveries.groupOf(row);
  const org = organizationOf(due);
  return {
    // First attempts have a queue of their own, so that they do not wait behind retries.
    queueName: row.attempts === 0 ? ("deliveries" as const) : ("delivery-retries" as const),
    message: {
      organizationId: org,
      deliveryId: row.id,
      channelId,
      attempt: row.attempts + 1,
    },
    group: String(org),
  };
};

/** Deliveries are due for less than two minutes while the re-dispatch runs. */
const overdueMilliseconds = 10 * 60_000;

/** Whether a delivery has been due for so long that the re-dispatch cannot be running. */
export const isRedispatchSilent = async (now: Date): Promise<boolean> => {
  const to = new Date(now.getTime() - overdueMilliseconds).toISOString();
  const isAnyOverdue = async (pk: string): Promise<boolean> =>
    (await table.query({ index: dueIndex, pk, to, limit: 1 })).length > 0;
  return (await Promise.all(dueShardsOf("DELIVERY").map(isAnyOverdue))).includes(true);
};
