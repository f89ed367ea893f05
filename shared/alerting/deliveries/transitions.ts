/**
 * Every change of a delivery after it was raised (delivery.ts). Each has a condition on the state before;
 * when it fails, somebody else has attempted, ended or deleted the delivery, and the row stays.
 *
 * | Transition      | State before                    | State after                                     | Caller     |
 * | --------------- | ------------------------------- | ----------------------------------------------- | ---------- |
 * | `claim`         | waiting, one attempt less       | attempted: counted, leased, due after the lease | deliver    |
 * | `finish`        | attempted by the caller         | delivered; or retrying, due; or not delivered   | deliver    |
 * | `postpone`      | waiting, as read                | waiting, due later                              | deliver    |
 * | `giveUp`        | waiting, as read                | not delivered                                   | deliver    |
 * | `replace`       | waiting, as read                | deleted, or telling less                        | deliver    |
 * | `takeDue`       | due, as read                    | due when a message would count as lost          | redispatch |
 * | `scheduleAgain` | in any state but attempted      | pending or retrying, due                        | by-hand    |
 *
 * Waiting: pending or retrying, due, and without a lease that holds. Attempted: with a lease. Deleting a
 * channel deletes its deliveries in any state (history.ts).
 */

import { randomUUID } from "node:crypto";
import {
  allOf,
  asRead,
  type Change,
  type Condition,
  condition,
  type Write,
} from "../../aws/table/condition.ts";
import { dueShard, type Key } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { attemptLeaseSeconds, lostAfterSeconds, secondsAfter } from "../../contract/alert-timing.ts";
import type { MemberWrite } from "../../lists/member-writes.ts";
import {
  type AlertEvent,
  countNotDelivered,
  type Delivery,
  deliveries,
  type Headline,
  type LastResponse,
} from "./delivery.ts";
import { attemptsPerDispatch, type Next } from "./retries.ts";

/** What an ended delivery no longer has. */
const openAttributes = ["lease", "dueShard", "dueAt", "waits"];

const hasNoLease = (now: Date): Condition =>
  condition("attribute_not_exists(#lease) OR #lease.#until < :now", { now: now.toISOString() });

/** An ended delivery is not due. */
const isWaiting = (attempts: number, now: Date) =>
  allOf(condition("attribute_exists(#dueAt) AND #attempts = :attempts", { attempts }), hasNoLease(now));

/** A delivery as its claim wrote it, and the token that proves the claim. */
export type ClaimedAttempt = { delivery: Delivery; token: string };

const isClaimedBy = ({ token }: ClaimedAttempt): Condition => condition("#lease.#token = :token", { token });

/**
 * Claims attempt `attempt` (from 1) and counts it. Undefined when there is nothing to do: the message is
 * repeated or late, another worker holds the lease, or the delivery is over or deleted. `headline`: of what
 * the attempt tells.
 */
export const claim = async (
  org: number,
  { id, succeededBefore = 0, throttled, dueAt = "" }: Delivery,
  attempt: number,
  headline?: Headline,
): Promise<ClaimedAttempt | undefined> => {
  const now = new Date();
  const token = randomUUID();
  const leaseEnd = secondsAfter(now, attemptLeaseSeconds);
  // A new due time also writes the due index, for two write units. One that comes soon after the lease stays.
  const staysDue = leaseEnd <= dueAt && dueAt <= secondsAfter(now, lostAfterSeconds);
  const update = await table.attempt(
    table.update<Delivery>(deliveries.key(org, id), {
      set: {
        attempts: attempt,
        failedAttempts: attempt - 1 - succeededBefore,
        lastAttemptAt: now.toISOString(),
        lease: { token, until: leaseEnd },
        dueAt: staysDue ? undefined : leaseEnd,
        headline,
      },
      remove: ["waits"],
      // An attempt that was taken back since the row was read may have reached some recipients.
      if: allOf(isWaiting(attempt - 1, now), asRead({ throttled })),
    }),
  );
  if (update.written) return { delivery: update.value, token };
  // The row with our token was written by this claim: its reply got lost, and it was sent again.
  const row = update.failed[0]?.item as Delivery | undefined;
  return row?.lease?.token === token ? { delivery: row, token } : undefined;
};

/**
 * What an attempt came to: why it failed, the answer by HTTP, and the fingerprints of addresses that got
 * their copy in it.
 */
export type Outcome = { failure?: string; response: LastResponse | undefined; reached: Set<string> };

/**
 * Records the result of a claimed attempt, or takes it back: then it is not counted, and the status becomes
 * `retrying`, so that an operator can send it sooner. `"lost"`: nothing was written, because the claim no
 * longer holds.
 */
export const finish = async (
  org: number,
  claimed: ClaimedAttempt,
  next: Next,
  outcome: Outcome,
): Promise<"finished" | "lost"> => {
  const { delivery } = claimed;
  const succeeded = (delivery.succeededBefore ?? 0) + (next.status === "delivered" ? 1 : 0);
  const isTakenBack = "isTakenBack" in next;
  const attempts = delivery.attempts - (isTakenBack ? 1 : 0);
  const key = deliveries.key(org, delivery.id);
  const { failure, response, reached } = outcome;
  const change: Change = {
    set: {
      status: next.status,
      lastResponse: response,
      ...(isTakenBack && { attempts, throttled: (delivery.throttled ?? 0) + 1 }),
      failedAttempts: attempts - succeeded,
      failureReason: failure ?? delivery.failureReason,
      dueAt: dueAtOf(next),
    },
    add: { reached },
    remove: [
      ...(next.status === "retrying" ? ["lease"] : openAttributes),
      // Of the attempt before.
      ...(response === undefined ? ["lastResponse"] : []),
    ],
    if: isClaimedBy(claimed),
  };
  const update = await table.attempt<unknown>(
    next.status === "not delivered"
      ? table.transact([{ update: key, ...change }, ...countNotDelivered(org, delivery, 1)])
      : table.update(key, change),
  );
  if (update.written) return "finished";
  // A row with the same count and no lease was written by this call: its reply got lost, and it was sent
  // again.
  const row = update.failed[0]?.item as Delivery | undefined;
  return row?.attempts === delivery.attempts && row.lease === undefined ? "finished" : "lost";
};

/** When the re-dispatch sends a message: if a delayed message is on its way, once that one counts as lost. */
const dueAtOf = (next: Next): string | undefined => {
  if ("retryInSeconds" in next) return secondsAfter(new Date(), next.retryInSeconds + lostAfterSeconds);
  if ("redispatchInSeconds" in next) return secondsAfter(new Date(), next.redispatchInSeconds);
  return undefined;
};

/** Makes a delivery that cannot be attempted now due when it has waited. `isOfTurn`: it may wait anew from then on. */
export const postpone = async (
  org: number,
  { id, attempts }: Delivery,
  waits: NonNullable<Delivery["waits"]>,
  isOfTurn: boolean,
): Promise<void> => {
  const { until } = waits;
  await table.attempt(
    table.update(deliveries.key(org, id), {
      set: { dueAt: until, waits, ...(isOfTurn && { waitsFrom: until }) },
      if: isWaiting(attempts, new Date()),
    }),
  );
};

/** Ends a delivery as not delivered. */
export const giveUp = async (org: number, delivery: Delivery, failureReason: string): Promise<void> => {
  await table.attempt(
    table.transact([
      {
        update: deliveries.key(org, delivery.id),
        set: { status: "not delivered", failureReason },
        remove: openAttributes,
        if: isWaiting(delivery.attempts, new Date()),
      },
      ...countNotDelivered(org, delivery, 1),
    ]),
  );
};

/**
 * Deletes a delivery, or keeps only the event `left`, and writes `raised` deliveries and `also` in its place.
 * False: it has changed since it was read, and nothing was written.
 */
export const replace = async (
  org: number,
  delivery: Delivery,
  {
    also = [],
    raised = [],
    left,
  }: { also?: readonly Write[]; raised?: readonly MemberWrite[]; left?: AlertEvent | undefined } = {},
): Promise<boolean> => {
  const { id, attempts, event } = delivery;
  const from = deliveries.groupOf(delivery);
  const isAsRead = allOf(isWaiting(attempts, new Date()), asRead({ event }));
  const own =
    left === undefined
      ? deliveries.delete(org, id, from, isAsRead)
      : deliveries.change(org, id, { from, set: { event: left }, if: isAsRead });
  const writes = [...deliveries.writes(org, [own, ...raised]), ...also];
  return (await table.attempt(table.transact(writes))).written;
};

/** Takes a due delivery for a message that the caller sends. Undefined when there is nothing to send. */
export const takeDue = async (key: Key, dueAt: string): Promise<Delivery | undefined> => {
  const update = await table.attempt(
    table.update<Delivery>(key, {
      set: { dueAt: secondsAfter(new Date(), lostAfterSeconds) },
      if: condition("#dueAt = :dueAt", { dueAt }),
    }),
  );
  return update.written ? update.value : undefined;
};

/**
 * Schedules a delivery by hand. `"when lost"` (default): the caller enqueues the message itself, so `dueAt`
 * is when that message would count as lost. `"now"`: the re-dispatch sends it. A delivery that is over gets
 * three more attempts; one that was delivered goes to all its recipients again. Returns false when an attempt
 * is in flight or the row has changed.
 */
export const scheduleAgain = async (
  org: number,
  delivery: Delivery,
  due: "now" | "when lost" = "when lost",
): Promise<boolean> => {
  const { id, status, attempts, succeededBefore = 0 } = delivery;
  const now = new Date();
  const wasOver = status === "not delivered" || status === "delivered";
  const { written } = await table.attempt(
    table.transact([
      {
        update: deliveries.key(org, id),
        set: {
          status: status === "delivered" || status === "pending" ? "pending" : "retrying",
          dueShard: dueShard("DELIVERY", id),
          dueAt: secondsAfter(now, due === "now" ? 0 : lostAfterSeconds),
          ...(wasOver && { attemptLimit: attempts + attemptsPerDispatch, waitsFrom: now.toISOString() }),
          ...(status === "delivered" && { succeededBefore: succeededBefore + 1 }),
        },
        remove: ["waits", ...(status === "delivered" ? ["reached"] : [])],
        if: allOf(
          condition("#status = :status AND #attempts = :attempts", { status, attempts }),
          hasNoLease(now),
        ),
      },
      ...(status === "not delivered" ? countNotDelivered(org, delivery, -1) : []),
    ]),
  );
  return written;
};
