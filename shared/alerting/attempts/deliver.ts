import type { Logger } from "@aws-lambda-powertools/logger";
import { billingRefusal } from "../../access/billing/billing.ts";
import type { Organization } from "../../access/organizations/organization.ts";
import * as queue from "../../aws/queue/queue.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { channelNotOpened } from "../../contract/log-lines.ts";
import type { Message } from "../../contract/messages.ts";
import * as outbox from "../../outbox/outbox.ts";
import { type AnyChannel, isSetUp, list, optionsOf } from "../channels/channel.ts";
import { ChannelKeyUnavailable } from "../channels/channel-key.ts";
import * as failing from "../channels/failing.ts";
import { ChannelNotOpened, open } from "../channels/seal.ts";
import { type Delivery, deliveries, type Gathered } from "../deliveries/delivery.ts";
import { attemptsLeft, nextAfterFailure, nextAfterThrottling } from "../deliveries/retries.ts";
import * as transitions from "../deliveries/transitions.ts";
import { fingerprint } from "../kinds/email/recipient.ts";
import type { AnyForm, AttemptResult, Plan, Told } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import { senderOf } from "../kinds/senders.ts";
import { isUrgent, readContent } from "../messages/content.ts";
import { headlineOf } from "../messages/title.ts";
import { toldOf } from "../messages/told.ts";
import { leastForOwners, ownersChannel } from "../owners/owner.ts";
import { backToOutbox } from "./back-to-outbox.ts";
import { eventsOfScan } from "./events-of-scan.ts";

export type DeliverSettings = {
  /** From the end of one dispatch to the beginning of the next. */
  redispatchSeconds: number;
  /** Between two checks of a delivery whose channel is disabled, or whose organization may not be served. */
  waitingSeconds: number;
  /** Age from which such a delivery is given up, counted from its event. */
  longestWaitSeconds: number;
  /** The url of the dashboard's page, without a slash at its end. */
  dashboardUrl: string;
};

/** The pause after Parameter Store could not give the channels' key, for example because it throttles. */
const unavailableSeconds = 60;

/** The rows that an attempt begins with, each undefined if it is gone. */
export type Subject = {
  row: Delivery | undefined;
  channel: AnyChannel | undefined;
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
  const subjects = [...chunk(rows, 3)] as [Delivery?, AnyChannel?, Organization?][];
  return subjects.map(([row, channel, owner]) => ({
    row,
    channel: row?.event.type === "owner" ? ownersChannel : channel,
    owner,
  }));
};

/** What the steps of an attempt share. */
type Attempt = {
  org: number;
  message: Message<"deliveries">;
  row: Delivery;
  channel: AnyChannel;
  owner: Organization;
  settings: DeliverSettings;
  logger: Logger;
  /** Logs what became of the attempt. */
  log: (outcome: string, failure?: string) => void;
  logError: (what: string, error: Error) => void;
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
  const logError = (what: string, error: Error) => logger.error(what, { ...fields, error });
  if (row?.dueAt === undefined || row.attempts !== message.attempt - 1) return log("dropped");
  if (channel === undefined || owner === undefined || owner.deleting === true) {
    await transitions.replace(org, row);
    return log("channel removed");
  }
  const attempt = { org, message, row, channel, owner, settings, logger, log, logError };
  const prepared = await prepare(attempt);
  if (prepared === undefined) return;
  const sentAt = Date.now();
  const result = await sendPrepared(attempt, prepared);
  const outcome = outcomeOf(org, result, Date.now() - sentAt);
  if ("status" in result) await afterSuccess(attempt, prepared, outcome);
  else await afterFailure(attempt, prepared, result, outcome);
};

/** A claimed attempt with what it sends and to whom. */
type Prepared = {
  claimed: transitions.ClaimedAttempt;
  form: AnyForm;
  told: Told;
} & Planned;

type Planned = Extract<Plan, { giveBack: unknown }>;

/** Claims an attempt that may be made now. Undefined: it may not, and the delivery is dealt with. */
const prepare = async (attempt: Attempt): Promise<Prepared | undefined> => {
  const { org, message, row, channel, owner, log } = attempt;
  const least = await leastFor(org, row);
  const reason = notServed(channel, owner) ?? (least === undefined ? "no channel tells owners" : undefined);
  if (reason !== undefined) return wait(attempt, { failure: reason });
  if (attemptsLeft(row, message.attempt) < 0) {
    return giveUp(attempt, { failure: row.failureReason ?? "no answer was recorded" });
  }
  if (row.event.type === "gathered") {
    // What is gathered becomes an event when it is sent.
    if (row.lastAttemptAt === null && !channel.notifyOnNewBreach) return discard(attempt);
    const isEvent = row.event.found !== undefined;
    if (!kindOf(channel).isForPeople && !isEvent) return sendAsEvents(attempt, row.event);
  }
  // All comes before the claim, so that neither a failed read nor a lost key costs an attempt.
  const [content, form] = await Promise.all([readContent(org, row, channel, least), openForm(attempt)]);
  if (form === undefined) return undefined;
  if (content === undefined) return discard(attempt);
  const told = toldOf(content, { organizationName: owner.name, dashboardUrl: attempt.settings.dashboardUrl });
  const planned = await plan(attempt, form, told, isUrgent(content));
  if (planned === undefined) return undefined;
  const headline = row.event.type === "gathered" ? headlineOf(content) : undefined;
  const claimed = await transitions.claim(org, row, message.attempt, headline).catch(async (error) => {
    await planned.giveBack();
    throw error;
  });
  if (claimed !== undefined) return { claimed, form, told, ...planned };
  await planned.giveBack();
  return void log("dropped");
};

/** What was attempted stays listed, since receivers may have it. */
const discard = async ({ org, row, log }: Attempt): Promise<undefined> => {
  const reason = "nothing is left to tell";
  if (row.lastAttemptAt === null) await transitions.replace(org, row);
  else await transitions.giveUp(org, row, reason);
  log(reason);
};

/**
 * Makes events of a webhook from what was gathered. With the grouping `scan` each breach has one. Otherwise the channel
 * has been changed since, and each address has one: the outbox makes these.
 */
const sendAsEvents = async ({ org, row, channel, log }: Attempt, event: Gathered): Promise<undefined> => {
  // The re-dispatch goes on with the rest.
  if (optionsOf(channel).grouping === "scan") {
    const { raised, left } = await eventsOfScan(org, row, event, channel);
    if (!(await transitions.replace(org, row, { raised: raised.writes, left }))) return void log("dropped");
    // The only queue of deliveries that this function may send to. The re-dispatch sends what SQS does not take.
    await queue.sendPossible("delivery-retries", raised.messages);
  } else {
    const { writes, after } = await backToOutbox(org, row, event, channel.id);
    const left = after === undefined ? undefined : { ...event, after };
    if (!(await transitions.replace(org, row, { also: writes, left }))) return void log("dropped");
    await outbox.wake(org);
  }
  log("told as events");
};

/** The channel's form. Undefined: it does not open now, and the delivery waits until it does. */
const openForm = async (attempt: Attempt): Promise<AnyForm | undefined> => {
  const { org, row, channel, settings, logError } = attempt;
  try {
    return await open(org, channel);
  } catch (error) {
    const isPassing = error instanceof ChannelKeyUnavailable;
    if (!isPassing && !(error instanceof ChannelNotOpened)) throw error;
    logError(channelNotOpened, error);
    const obstacle = { failure: "channel could not be opened", isOperators: true };
    if (Date.now() >= waitsUntil(row, settings)) await failChannel(attempt, obstacle, true);
    const seconds = Math.min(isPassing ? unavailableSeconds : Infinity, settings.waitingSeconds);
    return wait(attempt, obstacle, { seconds, isEndless: true, isShown: true });
  }
};

/** Who gets the attempt. Undefined: nobody may get it now, and the delivery is dealt with. */
const plan = async (
  attempt: Attempt,
  form: AnyForm,
  told: Told,
  isUrgent: boolean,
): Promise<Planned | undefined> => {
  const { owner: organization, row, settings, logger } = attempt;
  const { event, attemptLimit, waits, reached = new Set() } = row;
  const { type } = event;
  const planned = await senderOf(form).plan?.(form.config, {
    organization,
    told,
    reached,
    isSingle: type === "breach" || type === "owner",
    // What people send again by hand goes with what they cause.
    isUrgent: isUrgent && attemptLimit === undefined,
    isCaused: type === "scan_error" || type === "scan_complete" || attemptLimit !== undefined,
    bookedFrom: waits?.bookedFrom,
    dashboardUrl: settings.dashboardUrl,
    logger,
  });
  if (planned === undefined) return { addressees: [], giveBack: async () => {} };
  if ("over" in planned) return giveUp(attempt, { failure: planned.over });
  return "obstacle" in planned ? wait(attempt, planned.obstacle, { ...planned, isShown: true }) : planned;
};

const sendPrepared = (
  { message, settings, logError }: Attempt,
  { claimed, form, told, addressees }: Prepared,
): Promise<AttemptResult> => {
  const { deliveryId } = message;
  const { dashboardUrl } = settings;
  const at = new Date(claimed.delivery.lastAttemptAt ?? Date.now());
  const sent = senderOf(form).send(form.config, told, { deliveryId, at, dashboardUrl, addressees });
  return sent.catch((error) => {
    // Counts as a failed attempt, so that operators see the reason and the delivery ends.
    logError("delivery could not be sent", error);
    return { failure: "could not be sent" };
  });
};

const afterSuccess = async (
  { org, channel, log }: Attempt,
  { claimed }: Prepared,
  outcome: transitions.Outcome,
): Promise<void> => {
  if (isSetUp(channel)) await failing.recordArrival(org, channel);
  await transitions.finish(org, claimed, { status: "delivered" }, outcome);
  log("delivered");
};

const afterFailure = async (
  attempt: Attempt,
  { claimed, giveBack }: Prepared,
  { failure, isOperators, retryAfterSeconds, isFinal = false }: Extract<AttemptResult, { failure: string }>,
  outcome: transitions.Outcome,
): Promise<void> => {
  const { org, message, row, settings, log } = attempt;
  const isTooOld = Date.now() >= waitsUntil(row, settings);
  const isPartial = outcome.reached.size + (row.reached?.size ?? 0) > 0;
  const why = { failure, isPartial, ...(isOperators && { isOperators }) };
  // What SES did not answer in time it may have taken.
  if (failure !== "timeout") await giveBack(outcome.reached.size);
  const isThrottled = retryAfterSeconds !== undefined && !isTooOld;
  const left = isFinal ? 0 : attemptsLeft(row, message.attempt);
  const next = isThrottled
    ? nextAfterThrottling(row, retryAfterSeconds)
    : nextAfterFailure(left, settings.redispatchSeconds);
  await failChannel(attempt, why, next.status === "not delivered");
  const finished = await transitions.finish(org, claimed, next, { ...outcome, failure });
  log(isThrottled ? "throttled" : next.status, failure);
  if (finished === "finished" && "retryInSeconds" in next) {
    await queue.send(
      "delivery-retries",
      { ...message, attempt: message.attempt + 1 },
      { delaySeconds: next.retryInSeconds, group: String(org) },
    );
  }
};

const outcomeOf = (
  org: number,
  { reached = [], response }: AttemptResult,
  durationMs: number,
): transitions.Outcome => ({
  reached: new Set(reached.map((email) => fingerprint(org, email))),
  response: response && { ...response, durationMs },
});

/** Why nothing may be sent for now; undefined when it may. */
const notServed = (channel: AnyChannel, { billing }: Organization): string | undefined => {
  if (!channel.isEnabled) return "channel was disabled";
  return billingRefusal(billing, new Date()) === undefined ? undefined : "subscription had lapsed";
};

/** The severity, as a level, from which an owner is told; by hand of all. Undefined: no channel wants that any more. */
const leastFor = async (org: number, { event }: Delivery): Promise<number | undefined> =>
  event.type !== "owner" || event.byHand ? 0 : leastForOwners(await list(org));

/** Until when a delivery may wait, in milliseconds since 1970. */
const waitsUntil = ({ waitsFrom, createdAt }: Delivery, { longestWaitSeconds }: DeliverSettings): number =>
  Date.parse(waitsFrom ?? createdAt) + longestWaitSeconds * 1000;

/** How a delivery waits. `isShown`: its channel says so. The others: as of a plan (kinds/kind.ts). */
type Waiting = {
  seconds?: number;
  isEndless?: boolean;
  isShown?: boolean;
  isOfTurn?: boolean;
  bookedFrom?: string;
};

/**
 * Postpones a delivery that meets an obstacle. Gives it up once it is too old, unless it may wait without
 * end.
 */
const wait = async (
  attempt: Attempt,
  obstacle: failing.Failure,
  {
    seconds = attempt.settings.waitingSeconds,
    isEndless = false,
    isShown = false,
    isOfTurn = false,
    bookedFrom,
  }: Waiting = {},
): Promise<undefined> => {
  const { org, row, channel, settings, log } = attempt;
  const now = Date.now();
  const latest = isEndless || isOfTurn ? Infinity : waitsUntil(row, settings);
  if (now >= latest) return giveUp(attempt, obstacle);
  // It waits as a row. As a message it would come again beside those of the re-dispatch, ever more often.
  const until = new Date(Math.min(now + seconds * 1000, latest)).toISOString();
  const waits = { reason: obstacle.failure, until };
  if (isShown && isSetUp(channel)) await failing.recordWait(org, channel, waits);
  await transitions.postpone(org, row, { ...waits, ...(bookedFrom && { bookedFrom }) }, isOfTurn);
  log("waiting", obstacle.failure);
};

/**
 * An owner's mailbox is no channel, and fails none. `isOver`: the delivery is given up, or was held up for a
 * day. That the channel has failed for a day is not enough: it may have had nothing to deliver since.
 */
const failChannel = async (
  { org, row, channel, settings }: Attempt,
  failure: failing.Failure,
  isOver = false,
): Promise<void> => {
  if (!isSetUp(channel)) return;
  const since = Date.parse(channel.failingSince ?? new Date().toISOString());
  const dayLater = Math.max(since + settings.longestWaitSeconds * 1000, waitsUntil(row, settings));
  const isLasting = isOver || Date.now() >= dayLater;
  await failing.recordFailure(org, channel, failure, isLasting);
};

const giveUp = async (attempt: Attempt, why: failing.Failure): Promise<undefined> => {
  const { org, row, channel, owner, log } = attempt;
  // Whom nobody serves does not fail.
  if (notServed(channel, owner) === undefined) await failChannel(attempt, why, true);
  await transitions.giveUp(org, row, why.failure);
  log("given up", why.failure);
};
