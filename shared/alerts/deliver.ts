import type { Logger } from "@aws-lambda-powertools/logger";
import { lapse } from "../billing/billing.ts";
import * as catalog from "../catalog/catalog.ts";
import * as organizations from "../organizations/organization.ts";
import type { Message } from "../queue/messages.ts";
import * as queue from "../queue/queue.ts";
import * as channels from "./channel.ts";
import * as delivery from "./delivery.ts";
import type { Event } from "./envelope.ts";
import { send } from "./send.ts";

/** How long deliveries wait for a channel to be enabled again, or for a lapsed organization, since the event. */
const waitingHours = 24;

/** How often a waiting delivery is looked at. */
const waitingSeconds = 300;

/**
 * Makes one attempt of a delivery: claim, send, record. The channel's settings are those of this moment.
 */
export const attempt = async (
  message: Message<"deliveries">,
  { logger, redispatchSeconds }: { logger: Logger; redispatchSeconds: number },
): Promise<void> => {
  const { organizationId: org, deliveryId, channelId } = message;
  const [row, channel, owner] = await Promise.all([
    delivery.deliveries.get(org, deliveryId),
    channels.get(org, channelId),
    organizations.get(org),
  ]);
  const log = (outcome: string, failure?: string) =>
    logger.info("delivery", {
      organizationId: org,
      deliveryId,
      channelId,
      attempt: message.attempt,
      outcome,
      failure,
    });
  if (row?.dueAt === undefined || row.attempts !== message.attempt - 1) return log("dropped");
  if (channel === undefined || owner === undefined || owner.deleting === true) {
    await delivery.end(org, row, { delete: true });
    return log("channel removed");
  }
  if (!channel.isEnabled || lapse(owner.billing, new Date()) !== undefined) {
    const givenUpAt = Date.parse(row.createdAt) + waitingHours * 3_600_000;
    if (Date.now() >= givenUpAt) {
      await delivery.end(org, row, { failureReason: "channel was disabled" });
      return log("given up");
    }
    await delivery.putOff(org, row, waitingSeconds);
    return log("waiting");
  }
  if (message.attempt > delivery.maximumAttempts) {
    await delivery.end(org, row, { failureReason: row.failureReason ?? "no answer was recorded" });
    return log("given up");
  }

  // Whatever can fail before the attempt comes before it is counted.
  const event = await eventOf(row.event);
  const claimed = await delivery.claim(org, deliveryId, message.attempt, new Date());
  if (claimed === undefined) return log("dropped");
  const outcome = await send(channel, deliveryId, event, { organizationName: owner.name });
  if ("status" in outcome) {
    await delivery.finish(org, claimed, { label: "delivered" }, null);
    return log("delivered");
  }
  const next = delivery.afterFailure(message.attempt, redispatchSeconds);
  const finished = await delivery.finish(org, claimed, next, outcome.failure);
  log(next.label, outcome.failure);
  if (finished === "finished" && "retryAfterSeconds" in next) {
    await queue.send(
      "delivery-retries",
      { ...message, attempt: message.attempt + 1 },
      { delaySeconds: next.retryAfterSeconds, group: String(channelId) },
    );
  }
};

/** The event as the envelope tells it; of breaches the catalog's current details. */
const eventOf = async (event: delivery.AlertEvent): Promise<Event> => {
  if (event.type !== "breach") {
    const { type, ...data } = event;
    return { type, data } as Event;
  }
  const breaches = await catalog.details(event.breachIds);
  return {
    type: "breach",
    data: {
      breaches: event.breachIds
        .map((id) => breaches.get(id))
        .filter((breach) => breach !== undefined)
        .map(({ id, title, domain, dataClasses }) => ({ breachId: id, title, domain, dataClasses })),
    },
  };
};
