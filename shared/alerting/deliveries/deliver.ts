import type { Logger } from "@aws-lambda-powertools/logger";
import { billingRefusal } from "../../access/billing/billing.ts";
import type { Organization } from "../../access/organizations/organization.ts";
import * as queue from "../../aws/queue/queue.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { channelNotOpened } from "../../contract/log-lines.ts";
import type { Message } from "../../contract/messages.ts";
import type { Channel } from "../channels/channel.ts";
import { ChannelKeyUnavailable } from "../channels/channel-key.ts";
import { ChannelNotOpened, open } from "../channels/seal.ts";
import * as slowness from "../channels/slowness.ts";
import { planMail } from "../senders/mail-plan.ts";
import type { AttemptResult } from "../senders/outbound.ts";
import { readReport } from "../senders/report.ts";
import { type Sendable, send } from "../senders/send.ts";
import * as attempts from "./attempt.ts";
import { type Delivery, deliveries } from "./delivery.ts";
import * as schedule from "./schedule.ts";

export type DeliverSettings = {
  /** From the end of one dispatch to the beginning of the next. */
  redispatchSeconds: number;
  /** Between two checks of a delivery whose channel is disabled, or whose organization may not be served. */
  waitingSeconds: number;
  /** Age from which such a delivery is given up, counted from its event. */
  longestWaitSeconds: number;
  /** The url of the dashboard's page, without a slash at its end. Undefined: messages have no links to it. */
  dashboardUrl?: string | undefined;
};

/** Until the key of channels is asked for again after Parameter Store could not give it, for example because it throttles. */
const unavailableSeconds = 60;

/** The rows that an attempt begins with, each undefined if it is gone. */
export type Subject = {
  row: Delivery | undefined;
  channel: Channel | undefined;
  owner: Organization | undefined;
};

/** Reads what the attempts of these messages begin with, in their order, in one request for about 30 messages. */
export const readSubjects = async (messages: readonly Message<"deliveries">[]): Promise<Subject[]> => {
  const rows = await table.getMany(
    messages.flatMap(({ organizationId: org, deliveryId, channelId }) => [
      deliveries.key(org, deliveryId),
      keys.channel(org, channelId),
      keys.organization(org),
    ]),
  );
  const subjects = [...chunk(rows, 3)] as [Delivery?, Channel?, Organization?][];
  return subjects.map(([row, channel, owner]) => ({ row, channel, owner }));
};

/**
 * Makes one attempt of a delivery: claims it, sends it, records the result. Uses the channel's settings as
 * they were just read. Failures of the receiver are recorded and not thrown.
 */
export const deliver = async (
  message: Message<"deliveries">,
  { row, channel, owner }: Subject,
  { logger }: { logger: Logger },
  settings: DeliverSettings,
): Promise<void> => {
  const { organizationId: org, deliveryId, channelId } = message;
  const fields = { organizationId: org, deliveryId, channelId, attempt: message.attempt };
  const log = (outcome: string, failure?: string) => logger.info("delivery", { ...fields, outcome, failure });
  if (row?.dueAt === undefined || row.attempts !== message.attempt - 1) return log("dropped");
  if (channel === undefined || owner === undefined || owner.deleting === true) {
    await schedule.discard(org, row);
    return log("channel removed");
  }
  const obstacle = obstacleOf(channel, owner);
  if (obstacle !== undefined) return log(await wait(org, row, obstacle, settings), obstacle);
  if (message.attempt === 1 && message.slow !== true && slowness.isSlow(channel)) {
    await queue.send("delivery-retries", { ...message, slow: true }, { group: String(org) });
    return log("moved to delivery-retries");
  }
  const left = attempts.attemptsLeft(row, message.attempt);
  if (left < 0) {
    const failure = row.failureReason ?? "no answer was recorded";
    await schedule.giveUp(org, row, failure);
    return log("given up", failure);
  }

  // Both come before the claim, so that neither a failed read nor a lost key costs an attempt.
  const [report, form] = await Promise.all([
    readReport(org, row.event, { forPeople: channel.channel !== "webhook" }),
    open(org, channel).catch((error: Error) => {
      if (error instanceof ChannelNotOpened || error instanceof ChannelKeyUnavailable) return error;
      throw error;
    }),
  ]);
  if (form instanceof Error) {
    // It waits as a row. As a message it would come again beside those of the re-dispatch, ever more often.
    const isPassing = form instanceof ChannelKeyUnavailable;
    const seconds = isPassing
      ? Math.min(unavailableSeconds, settings.waitingSeconds)
      : settings.waitingSeconds;
    const until = new Date(Date.now() + seconds * 1000);
    await schedule.postpone(org, row, until, "channel could not be opened");
    logger.error(channelNotOpened, { ...fields, error: form });
    return log("waiting");
  }
  const { dashboardUrl } = settings;
  const mail =
    form.channel === "email"
      ? await planMail(owner, row, form.config.recipients, { dashboardUrl, logger })
      : undefined;
  if (mail !== undefined && "obstacle" in mail) {
    const { obstacle, seconds: waitingSeconds, isReason } = mail;
    return log(await wait(org, row, obstacle, { ...settings, waitingSeconds, isReason }), obstacle);
  }
  const reached: string[] = [];
  const claimed = await attempts
    .claim(org, deliveryId, message.attempt, new Date(), row.succeededBefore)
    .catch(async (error) => {
      await mail?.end([]).catch(() => {});
      throw error;
    });
  const giveBack = async (): Promise<void> => {
    await mail?.giveBack(mail.recipients.length - reached.length).catch((error: Error) => {
      // The budget then counts copies that nobody got.
      logger.error("copies could not be given back", { ...fields, error });
    });
  };
  if (claimed === undefined) {
    await mail?.end([]);
    await giveBack();
    return log("dropped");
  }
  const sentAt = Date.now();
  const context = { organizationName: owner.name, dashboardUrl };
  const sendable: Sendable =
    form.channel === "email"
      ? { channel: "email", recipients: mail?.recipients ?? [], reached: (address) => reached.push(address) }
      : form;
  const result = await send(sendable, deliveryId, report, context).catch((error: Error): AttemptResult => {
    // Counts as a failed attempt, so that operators see the reason and the delivery ends.
    logger.error("delivery could not be sent", { ...fields, error });
    return { failure: "could not be sent" };
  });
  await mail?.end(reached).catch((error: Error) => {
    // Other channels of the alert then wait for the end of the lease, and further attempts may send further copies.
    logger.error("copies could not be noted", { ...fields, error });
  });
  const took = { milliseconds: Date.now() - sentAt, isDelivered: "status" in result };
  const noteSlowness = () =>
    slowness.note(org, channel, took).catch((error: Error) => {
      // This attempt is recorded; only the speed of other deliveries depends on the note.
      logger.error("slowness could not be noted", { ...fields, error });
    });
  if ("status" in result) {
    await attempts.finish(org, claimed, { status: "delivered" }, null);
    log("delivered");
    return noteSlowness();
  }
  const { failure, retryAfterSeconds } = result;
  const isTooOld = Date.now() - waitsFrom(row) > settings.longestWaitSeconds * 1000;
  // A webhook's contract promises at most 30 posts, so each of its attempts counts, throttled ones too.
  if (retryAfterSeconds !== undefined && channel.channel !== "webhook" && !isTooOld) {
    await attempts.releaseThrottled(org, claimed, { failure, retryAfterSeconds });
    await giveBack();
    return log("throttled", failure);
  }
  const next = attempts.afterFailure(left, settings.redispatchSeconds);
  const finished = await attempts.finish(org, claimed, next, failure);
  log(next.status, failure);
  if (finished === "finished" && "retryInSeconds" in next) {
    await queue.send(
      "delivery-retries",
      { ...message, attempt: message.attempt + 1 },
      { delaySeconds: next.retryInSeconds, group: String(org) },
    );
  }
  await noteSlowness();
};

const waitsFrom = ({ waitsFrom: again, createdAt }: Delivery): number => Date.parse(again ?? createdAt);

/** Why nothing may be sent for now; undefined when it may. */
const obstacleOf = (channel: Channel, { billing }: Organization): string | undefined => {
  if (!channel.isEnabled) return "channel was disabled";
  return billingRefusal(billing, new Date()) === undefined ? undefined : "subscription had lapsed";
};

/**
 * Postpones a delivery that meets an obstacle, or gives it up once it is too old. Returns the outcome for the
 * log. `isReason`: the delivery shows the obstacle while it waits.
 */
const wait = async (
  org: number,
  row: Delivery,
  obstacle: string,
  {
    waitingSeconds,
    longestWaitSeconds,
    isReason = false,
  }: DeliverSettings & { isReason?: boolean | undefined },
): Promise<"given up" | "waiting"> => {
  const now = Date.now();
  const givenUpAt = waitsFrom(row) + longestWaitSeconds * 1000;
  if (now >= givenUpAt) {
    await schedule.giveUp(org, row, obstacle);
    return "given up";
  }
  const until = new Date(Math.min(now + waitingSeconds * 1000, givenUpAt));
  await schedule.postpone(org, row, until, isReason ? obstacle : undefined);
  return "waiting";
};
