/**
 * What happens to a delivery between attempts. Each function leaves the row as it is when an attempt is in
 * progress, or when the row has changed since the caller read it.
 */

import { allOf, condition } from "../../aws/table/condition.ts";
import { dueShard, type Key } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { lostAfterSeconds, secondsAfter } from "../../contract/alert-timing.ts";
import { attemptsPerDispatch } from "./attempt.ts";
import { countNotDelivered, type Delivery, deliveries, noAttemptInProgress } from "./delivery.ts";

const isAsRead = ({ attempts }: Delivery, now: Date) =>
  allOf(condition("#attempts = :attempts", { attempts }), noAttemptInProgress(now));

/** Ends a delivery as not delivered. */
export const giveUp = async (org: number, delivery: Delivery, failureReason: string): Promise<void> => {
  // A failed condition means that somebody else has attempted, ended or deleted the delivery.
  await table.attempt(
    table.transact([
      {
        update: deliveries.key(org, delivery.id),
        set: { status: "not_delivered", failureReason },
        remove: ["lease", "dueShard", "dueAt"],
        // An ended delivery is not in the due index: it is not counted a second time.
        if: allOf(condition("attribute_exists(#dueAt)"), isAsRead(delivery, new Date())),
      },
      ...countNotDelivered(org, delivery, 1),
    ]),
  );
};

/** Deletes a delivery whose channel or organization is gone. */
export const discard = async (org: number, delivery: Delivery): Promise<void> => {
  const deletion = deliveries.delete(
    org,
    delivery.id,
    deliveries.groupOf(delivery),
    allOf(condition("attribute_exists(#dueAt)"), isAsRead(delivery, new Date())),
  );
  // A failed condition means that the delivery is deleted already, or that an attempt is in progress.
  await table.attempt(table.transact(deliveries.writes(org, [deletion])));
};

/** Makes a delivery that cannot be attempted now due at `until`. `failureReason`: what it shows meanwhile. */
export const postpone = async (
  org: number,
  delivery: Delivery,
  until: Date,
  failureReason?: string,
): Promise<void> => {
  // A failed condition means that somebody else has attempted, ended or deleted the delivery.
  await table.attempt(
    table.update(deliveries.key(org, delivery.id), {
      set: { dueAt: until.toISOString(), failureReason },
      if: allOf(condition("attribute_exists(#dueAt)"), isAsRead(delivery, new Date())),
    }),
  );
};

/**
 * Schedules a delivery for dispatch, whatever its status. `"when lost"` (default): the caller enqueues the
 * message itself, so `dueAt` is when that message would count as lost. `"now"`: the re-dispatch sends it. A
 * delivery that is over gets three more attempts. Returns false when an attempt is in flight or the row has
 * changed.
 */
export const scheduleDispatch = async (
  org: number,
  delivery: Delivery,
  due: "now" | "when lost" = "when lost",
): Promise<boolean> => {
  const { status } = delivery;
  const now = new Date();
  const wasOver = status === "not_delivered" || status === "delivered";
  const { written } = await table.attempt(
    table.transact([
      {
        update: deliveries.key(org, delivery.id),
        set: {
          status: status === "delivered" || status === "pending" ? "pending" : "retrying",
          dueShard: dueShard("DELIVERY", delivery.id),
          dueAt: secondsAfter(now, due === "now" ? 0 : lostAfterSeconds),
          ...(wasOver && {
            attemptLimit: delivery.attempts + attemptsPerDispatch,
            waitsFrom: now.toISOString(),
          }),
          ...(status === "delivered" && { succeededBefore: (delivery.succeededBefore ?? 0) + 1 }),
        },
        if: allOf(condition("#status = :status", { status }), isAsRead(delivery, now)),
      },
      ...(status === "not_delivered" ? countNotDelivered(org, delivery, -1) : []),
    ]),
  );
  return written;
};

/**
 * Takes a due delivery for re-dispatch and returns it: it is due again when the message that the caller sends
 * would count as lost. Undefined when somebody else took the delivery, or when it is over or deleted.
 */
export const takeForRedispatch = async (key: Key, dueAt: string): Promise<Delivery | undefined> => {
  const update = await table.attempt(
    table.update<Delivery>(key, {
      set: { dueAt: secondsAfter(new Date(), lostAfterSeconds) },
      if: condition("#dueAt = :dueAt", { dueAt }),
    }),
  );
  return update.written ? update.value : undefined;
};
