/** Timeouts of the functions that deliver alerts, and the leases that follow from them. */

/**
 * Timeout of deliver-alert and retry-alert: long enough to work on further messages while an attempt waits.
 */
export const deliveryTimeoutSeconds = 40;

/** Longest that an attempt waits for its receiver, name resolution included. */
export const sendTimeoutSeconds = 10;

/** Longest that one message takes: sending, and the reads and writes around it. */
export const messageTimeoutSeconds = sendTimeoutSeconds + 4;

/** Covers the difference between the clocks of two machines. */
const leaseMarginSeconds = 5;

/** An attempt's lease outlasts the function that holds it, so that no two attempts of a delivery overlap. */
export const attemptLeaseSeconds = deliveryTimeoutSeconds + leaseMarginSeconds;

/** A message that has not been worked on this long after it was due counts as lost. */
export const lostAfterSeconds = 60;

/** The time this many seconds after `from`, as ISO 8601. */
export const secondsAfter = (from: Date, seconds: number): string =>
  new Date(from.getTime() + seconds * 1000).toISOString();
