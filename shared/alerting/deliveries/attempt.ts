/**
 * Attempts of deliveries. An attempt is claimed and counted before anything is sent, and its result is
 * recorded after. The claim is a lease with a token; a message names its attempt, so that repeated and late
 * messages claim nothing.
 */
import { randomUUID } from "node:crypto";
import { allOf, type Change, condition } from "../../aws/table/condition.ts";
import * as table from "../../aws/table/table.ts";
import { attemptLeaseSeconds, lostAfterSeconds, secondsAfter } from "../../contract/alert-timing.ts";
import {
  countNotDelivered,
  type Delivery,
  type DeliveryRow,
  deliveries,
  noAttemptInProgress,
} from "./delivery.ts";

export const attemptsPerDispatch = 3;
const maximumAttempts = 30;

/** How many attempts remain after attempt `attempt`; negative when that attempt itself is one too many. */
export const attemptsLeft = ({ attemptLimit = maximumAttempts }: DeliveryRow, attempt: number): number =>
  attemptLimit - attempt;

/** A delivery as its claim wrote it, and the token that proves the claim. */
export type ClaimedAttempt = { delivery: Delivery; token: string };

/**
 * Claims attempt `attempt` (from 1) and counts it. Undefined when there is nothing to do: the message is
 * repeated or late, another worker holds the lease, or the delivery is over or deleted. `succeededBefore`: as of the
 * delivery.
 */
export const claim = async (
  org: number,
  id: number,
  attempt: number,
  now: Date,
  succeededBefore = 0,
): Promise<ClaimedAttempt | undefined> => {
  const token = randomUUID();
  const leaseEnd = secondsAfter(now, attemptLeaseSeconds);
  const update = await table.attempt(
    table.update<Delivery>(deliveries.key(org, id), {
      set: {
        attempts: attempt,
        failedAttempts: attempt - 1 - succeededBefore,
        lastAttemptAt: now.toISOString(),
        lease: { token, until: leaseEnd },
        dueAt: leaseEnd,
      },
      if: allOf(
        condition("#attempts = :before AND attribute_exists(#dueAt)", { before: attempt - 1 }),
        noAttemptInProgress(now),
      ),
    }),
  );
  if (update.written) return { delivery: update.value, token };
  // The row with our token was written by this claim: its reply got lost, and the SDK tried again.
  const row = update.failed[0]?.item as Delivery | undefined;
  return row?.lease?.token === token ? { delivery: row, token } : undefined;
};

/**
 * What follows an attempt: the delivery is over, or its next attempt comes as a delayed message
 * (`retryInSeconds`) or with the next dispatch (`redispatchInSeconds`).
 */
export type Next =
  | { status: "delivered" }
  | { status: "not_delivered" }
  | { status: "retrying"; retryInSeconds: number }
  | { status: "retrying"; redispatchInSeconds: number };

/**
 * What follows a failed attempt when `left` attempts remain. The attempts of a dispatch are 1 s and 2 s
 * apart; dispatches are `redispatchSeconds` apart; without attempts left the delivery is given up.
 */
export const afterFailure = (left: number, redispatchSeconds: number): Next => {
  if (left <= 0) return { status: "not_delivered" };
  // Counted from the end, because a retry by hand may start a dispatch after any attempt.
  const leftOfDispatch = left % attemptsPerDispatch;
  if (leftOfDispatch > 0) {
    return { status: "retrying", retryInSeconds: attemptsPerDispatch - leftOfDispatch };
  }
  // Jitter spreads deliveries that failed at the same time.
  return { status: "retrying", redispatchInSeconds: redispatchSeconds * (1 + Math.random() * 0.05) };
};

/**
 * Records the result of a claimed attempt. `"lost"`: nothing was written, because the claim no longer holds.
 */
export const finish = async (
  org: number,
  { delivery, token }: ClaimedAttempt,
  next: Next,
  failureReason: string | null,
): Promise<"finished" | "lost"> => {
  const isOver = next.status !== "retrying";
  const succeeded = (delivery.succeededBefore ?? 0) + (next.status === "delivered" ? 1 : 0);
  const key = deliveries.key(org, delivery.id);
  const change: Change = {
    set: {
      status: next.status,
      failedAttempts: delivery.attempts - succeeded,
      failureReason: failureReason ?? delivery.failureReason,
      dueAt: dueAtOf(next),
    },
    remove: isOver ? ["lease", "dueShard", "dueAt"] : ["lease"],
    if: condition("#lease.#token = :token", { token }),
  };
  const update = await table.attempt<unknown>(
    next.status === "not_delivered"
      ? table.transact([{ update: key, ...change }, ...countNotDelivered(org, delivery, 1)])
      : table.update(key, change),
  );
  if (update.written) return "finished";
  // A row with the same count and no lease was written by this call: its reply got lost, and the SDK tried
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

const longestBackoffSeconds = 7_200;

/**
 * Takes back a claimed attempt that Slack or SES throttled: the attempt is not counted, and the delivery is
 * due again after `retryAfterSeconds` plus a random backoff whose range doubles each time. (A first scan can
 * create thousands of alerts for a channel that takes one a second.) The status becomes `retrying`, so that
 * an operator can send it sooner.
 */
export const releaseThrottled = async (
  org: number,
  { delivery, token }: ClaimedAttempt,
  { failure, retryAfterSeconds }: { failure: string; retryAfterSeconds: number },
): Promise<void> => {
  const { attempts, failedAttempts, throttled = 0 } = delivery;
  const backoffSeconds = Math.random() * Math.min(longestBackoffSeconds, 60 * 2 ** throttled);
  // A failed condition means that the lease ran out and another worker has claimed the attempt.
  await table.attempt(
    table.update(deliveries.key(org, delivery.id), {
      set: {
        status: "retrying",
        attempts: attempts - 1,
        failedAttempts: Math.min(failedAttempts, attempts - 1),
        failureReason: failure,
        throttled: throttled + 1,
        dueAt: secondsAfter(new Date(), retryAfterSeconds + backoffSeconds),
      },
      remove: ["lease"],
      if: condition("#lease.#token = :token", { token }),
    }),
  );
};
