import type { Logger } from "@aws-lambda-powertools/logger";
import { lapse } from "../billing/billing.ts";
import * as catalog from "../catalog/details.ts";
import * as organizations from "../organizations/organization.ts";
import type { Message } from "../queue/messages.ts";
import * as queue from "../queue/queue.ts";
import * as channels from "./channel.ts";
import * as delivery from "./delivery.ts";
import type { Event } from "./envelope.ts";
import type { Outcome } from "./outbound.ts";
import { send } from "./send.ts";
import * as slowness from "./slowness.ts";

/** Settings of an attempt, in seconds. */
export type AttemptSettings = {
  /** From a dispatch that failed to the next. */
  redispatchSeconds: number;
  /** How often a delivery is looked at that waits for its channel or its organization. */
  waitingSeconds: number;
  /** How long after its event it waits at most. */
  longestWaitSeconds: number;
};

/**
 * Makes one attempt of a delivery: claim, send, record. The channel's settings are those of this moment.
 */
export const attempt = async (
  message: Message<"deliveries">,
  { logger }: { logger: Logger },
  settings: AttemptSettings,
): Promise<void> => {
  const { organizationId: org, deliveryId, channelId } = message;
  const [row, channel, owner] = await Promise.all([
    delivery.deliveries.get(org, deliveryId),
    channels.get(org, channelId),
    organizations.get(org),
  ]);
  const fields = { organizationId: org, deliveryId, channelId, attempt: message.attempt };
  const log = (outcome: string, failure?: string) => logger.info("delivery", { ...fields, outcome, failure });
  if (row?.dueAt === undefined || row.attempts !== message.attempt - 1) return log("dropped");
  if (channel === undefined || owner === undefined || owner.deleting === true) {
    await delivery.end(org, row, { delete: true });
    return log("channel removed");
  }
  const obstacle = obstacleOf(channel, owner);
  if (obstacle !== undefined) {
    const now = Date.now();
    const givenUpAt = Date.parse(row.createdAt) + settings.longestWaitSeconds * 1000;
    if (now >= givenUpAt) {
      await delivery.end(org, row, { failureReason: obstacle });
      return log("given up", obstacle);
    }
    await delivery.putOff(org, row, new Date(Math.min(now + settings.waitingSeconds * 1000, givenUpAt)));
    return log("waiting", obstacle);
  }
  if (message.attempt === 1 && message.slow !== true && slowness.isSlow(channel)) {
    await queue.send("delivery-retries", { ...message, slow: true }, { group: String(channelId) });
    return log("by the retries' lane");
  }
  const attemptsLeft = delivery.attemptsLeft(row, message.attempt);
  if (attemptsLeft < 0) {
    const failure = row.failureReason ?? "no answer was recorded";
    await delivery.end(org, row, { failureReason: failure });
    return log("given up", failure);
  }

  // Whatever can fail before the attempt comes before it is counted.
  const event = await eventOf(row.event);
  const claimed = await delivery.claim(org, deliveryId, message.attempt, new Date());
  if (claimed === undefined) return log("dropped");
  const sentAt = Date.now();
  const outcome = await send(channel, deliveryId, event, { organizationName: owner.name }).catch(
    (error: Error): Outcome => {
      // A failed attempt like any other, so that it is seen and ends.
      logger.error("delivery could not be sent", { ...fields, error });
      return { failure: "could not be sent" };
    },
  );
  const took = { milliseconds: Date.now() - sentAt, isDelivered: "status" in outcome };
  const noteSlowness = () =>
    slowness.note(org, channel, took).catch((error: Error) => {
      // Only others' speed depends on it.
      logger.error("slowness could not be noted", { ...fields, error });
    });
  if ("status" in outcome) {
    await delivery.finish(org, claimed, { status: "delivered" }, null);
    log("delivered");
    return noteSlowness();
  }
  const { comeBackSeconds } = outcome;
  const isTooOld = Date.now() - Date.parse(row.createdAt) > settings.longestWaitSeconds * 1000;
  // Of webhooks every attempt counts (interface.md "Events").
  if (comeBackSeconds !== undefined && channel.channel !== "webhook" && !isTooOld) {
    await delivery.takeBack(org, claimed, { failure: outcome.failure, comeBackSeconds });
    return log("throttled", outcome.failure);
  }
  const next = delivery.afterFailure(attemptsLeft, settings.redispatchSeconds);
  const finished = await delivery.finish(org, claimed, next, outcome.failure);
  log(next.status, outcome.failure);
  if (finished === "finished" && "retryAfterSeconds" in next) {
    await queue.send(
      "delivery-retries",
      { ...message, attempt: message.attempt + 1 },
      { delaySeconds: next.retryAfterSeconds, group: String(channelId) },
    );
  }
  await noteSlowness();
};

/** Why nothing may be sent for now; undefined when it may. */
const obstacleOf = (
  channel: channels.Channel,
  { billing }: organizations.Organization,
): string | undefined => {
  if (!channel.isEnabled) return "channel was disabled";
  return lapse(billing, new Date()) === undefined ? undefined : "subscription had lapsed";
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
