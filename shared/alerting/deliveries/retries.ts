/**
 * When a delivery is attempted again: a dispatch is three attempts in a few seconds, and dispatches are an hour apart.
 */
import type { DeliveryRow } from "./delivery.ts";

export const attemptsPerDispatch = 3;
const maximumAttempts = 30;

/** How many attempts remain after attempt `attempt`; negative when that attempt itself is one too many. */
export const attemptsLeft = ({ attemptLimit = maximumAttempts }: DeliveryRow, attempt: number): number =>
  attemptLimit - attempt;

/**
 * What follows an attempt: the delivery is over, or its next attempt comes as a delayed message
 * (`retryInSeconds`) or with the next dispatch (`redispatchInSeconds`). `isTakenBack`: the attempt does not count.
 */
export type Next =
  | { status: "delivered" }
  | { status: "not delivered" }
  | { status: "retrying"; retryInSeconds: number }
  | { status: "retrying"; redispatchInSeconds: number; isTakenBack?: true };

/**
 * What follows a failed attempt when `left` attempts remain. The attempts of a dispatch are 1 s and 2 s
 * apart; dispatches are `redispatchSeconds` apart; without attempts left the delivery is given up.
 */
export const nextAfterFailure = (left: number, redispatchSeconds: number): Next => {
  if (left <= 0) return { status: "not delivered" };
  // Counted from the end, because a retry by hand may start a dispatch after any attempt.
  const leftOfDispatch = left % attemptsPerDispatch;
  if (leftOfDispatch > 0) {
    return { status: "retrying", retryInSeconds: attemptsPerDispatch - leftOfDispatch };
  }
  // Jitter spreads deliveries that failed at the same time.
  return { status: "retrying", redispatchInSeconds: redispatchSeconds * (1 + Math.random() * 0.05) };
};

const longestBackoffSeconds = 7_200;

/**
 * What follows an attempt that the receiver throttled: the same attempt at a random time, ever later, because
 * many may wait for one receiver.
 */
export const nextAfterThrottling = ({ throttled = 0 }: DeliveryRow, retryAfterSeconds: number): Next => {
  const backoffSeconds = Math.random() * Math.min(longestBackoffSeconds, 60 * 2 ** throttled);
  return {
    status: "retrying",
    redispatchInSeconds: retryAfterSeconds + backoffSeconds,
    isTakenBack: true,
  };
};
