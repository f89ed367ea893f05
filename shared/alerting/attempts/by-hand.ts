/** What people do by hand with channels and deliveries. */

import * as queue from "../../aws/queue/queue.ts";
import { chunk } from "../../aws/table/chunk.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import type { AnyChannel } from "../channels/channel.ts";
import { type AlertEvent, deliveries, ofChannel, raiseFor } from "../deliveries/delivery.ts";
import { scheduleAgain } from "../deliveries/transitions.ts";
import { channelOf } from "../owners/owner.ts";

/**
 * A `scan_error`: receivers know no event type for tests, and this one carries a sentence for people. A
 * channel that wants new breaches gets an example of one (messages/example.ts).
 */
const testFor = ({ notifyOnNewBreach }: AnyChannel): AlertEvent => ({
  type: "scan_error",
  error: "This is a test of the alert channel, sent by hand. No scan had a problem.",
  ...(notifyOnNewBreach && { isExample: true }),
});

/**
 * Sends a test event to a channel, whatever its notification flags say, and returns the id of the delivery.
 * The delivery is attempted and retried like any other.
 */
export const sendTest = async (org: number, channel: AnyChannel): Promise<number> => {
  const { writes, messages } = await raiseFor(org, [{ event: testFor(channel), channel }]);
  const [sending] = messages;
  if (sending === undefined) throw new Error("No delivery was created for the test event");
  await table.transact(deliveries.writes(org, writes));
  // If SQS does not take the message, the re-dispatch sends it.
  await queue.send("deliveries", sending.message, sending).catch(() => {});
  return sending.message.deliveryId;
};

/** A channel whose deliveries do not wait until it is enabled. Refuses `channelNotFound` and `channelDisabled`. */
const enabled = async (org: number, id: number): Promise<AnyChannel> => {
  const channel = await channelOf(org, id);
  if (channel === undefined) throw new Refusal("channelNotFound");
  if (!channel.isEnabled) throw new Refusal("channelDisabled");
  return channel;
};

/** `sendTest` for people. Refuses as `enabled`. */
export const test = async (org: number, channelId: number): Promise<number> =>
  sendTest(org, await enabled(org, channelId));

/**
 * Delivers an event again, whatever became of it: the same event with the same id. What is over gets three
 * more attempts. Refuses `channelNotFound`, `deliveryNotFound`, `channelDisabled`, and `deliveryInProgress`
 * while an attempt is in flight.
 */
export const redeliver = async (org: number, channelId: number, id: number): Promise<void> => {
  const [channel, row] = await Promise.all([channelOf(org, channelId), deliveries.get(org, id)]);
  if (channel === undefined) throw new Refusal("channelNotFound");
  if (row === undefined || deliveries.groupOf(row).channelId !== channelId)
    throw new Refusal("deliveryNotFound");
  if (!channel.isEnabled) throw new Refusal("channelDisabled");
  // A delivery that changes meanwhile is being attempted.
  if (!(await scheduleAgain(org, row))) throw new Refusal("deliveryInProgress");
  const message = { organizationId: org, deliveryId: id, channelId, attempt: row.attempts + 1 };
  // The queue of first attempts is the faster one, and a person is waiting. If SQS does not take the message, the
  // re-dispatch sends it.
  await queue.send("deliveries", message, { group: String(org) }).catch(() => {});
};

/** Deliveries scheduled at the same time. */
const concurrency = 25;

/**
 * Schedules every given-up delivery of a channel for three more attempts, and returns how many. The
 * re-dispatch sends them within two minutes, through the queue of retries. So first attempts of other
 * deliveries do not wait. Safe to repeat, also after it was interrupted: a scheduled delivery is no longer
 * given up. Refuses as `enabled`.
 */
export const retryAll = async (
  org: number,
  channelId: number,
  progress: (retried: number) => void = () => {},
): Promise<number> => {
  await enabled(org, channelId);
  let retried = 0;
  for await (const rows of ofChannel(org, channelId)) {
    const givenUp = rows.filter(({ status }) => status === "not delivered");
    for (const part of chunk(givenUp, concurrency)) {
      const scheduled = await Promise.all(part.map((row) => scheduleAgain(org, row, "now")));
      retried += scheduled.filter((isScheduled) => isScheduled).length;
      progress(retried);
    }
  }
  return retried;
};
