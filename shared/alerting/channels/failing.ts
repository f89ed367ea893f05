/**
 * A channel that gave a delivery up, or could not send one for a day, is noted as failing, and the organization's other channels that
 * want scan errors are told, once until it delivers again.
 */
import * as queue from "../../aws/queue/queue.ts";
import { condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { deliveries, raise } from "../deliveries/delivery.ts";
import { type Channel, describe, list } from "./channel.ts";

/** Call it before the delivery ends: if the process dies in between, the next attempt finds the note. */
export const noteFailing = async (org: number, channel: Channel, failure: string): Promise<void> => {
  if (channel.failingSince !== undefined) return;
  const others = (await list(org)).filter(({ id }) => id !== channel.id);
  const error = `Alerts do not reach ${describe(channel)}: ${failure}. Check its settings, then send it a test.`;
  const { writes, messages } = await raise(org, others, [{ type: "scan_error", error }]);
  // A failed condition means that another attempt has written the note, or that the channel was removed.
  const { written } = await table.attempt(
    table.transact([
      {
        update: keys.channel(org, channel.id),
        set: { failingSince: new Date().toISOString() },
        if: condition("attribute_exists(#id) AND attribute_not_exists(#failingSince)"),
      },
      ...deliveries.writes(org, writes),
    ]),
  );
  // If SQS does not take the messages, the re-dispatch sends them.
  if (written) await queue.sendAll("delivery-retries", messages).catch(() => {});
};

export const noteWorking = async (org: number, { id, failingSince }: Channel): Promise<void> => {
  if (failingSince === undefined) return;
  await table.attempt(
    table.update(keys.channel(org, id), {
      remove: ["failingSince"],
      if: condition("attribute_exists(#failingSince)"),
    }),
  );
};
