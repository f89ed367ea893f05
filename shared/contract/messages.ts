/**
 * The messages of every queue. A message only wakes a worker: the truth is in the table. So any message may
 * be lost, repeated or late. The queues add a version to each (version.ts). A worker leaves a message alone
 * that has an unknown version or does not parse. Such a message ends in the dead-letter queue.
 */
import * as z from "zod/mini";

const id = z.int().check(z.positive());

/** `batch` and `chunk` name a chunk in the scan's `remaining`. */
const chunk = z.object({ organizationId: id, scanId: id, batch: id, chunk: z.string() });

/** `channelId`: 0 of a message to an owner (alerting/owners). */
const delivery = z.object({
  organizationId: id,
  deliveryId: id,
  channelId: z.int().check(z.minimum(0)),
  attempt: z.int().check(z.positive()),
});

export const messages = {
  /**
   * Wakes a planner. `fencingToken` is the scan lock's when this was sent: a message with another token is
   * late or repeated, and dropped. The planner of a scan whose domains are all planned sends the unfinished
   * chunks again.
   */
  "scan-plans": z.object({
    organizationId: id,
    scanId: id,
    fencingToken: z.int().check(z.minimum(0)),
  }),
  /** A chunk whose changes are to be recorded. */
  "scan-checks": chunk,
  /** A chunk whose addresses are to be looked up. */
  "scan-lookups": chunk,
  /** Wakes a worker of a request to change many findings. Without an id: looks what rules have to look at again. */
  acknowledgements: z.object({ organizationId: id, acknowledgementId: z.optional(id) }),
  /** A mail with a link, or a notice, that is to be sent; its row says to whom. */
  "sign-in-mails": z.object({ mailId: z.uuid(), isNotice: z.optional(z.literal(true)) }),
  /** Wakes the worker that makes deliveries of what happened in an organization. */
  outbox: z.object({ organizationId: id }),
  /** Wakes the worker that does what follows from changes in an organization's directories. */
  "directory-changes": z.object({ organizationId: id }),
  deliveries: delivery,
  "delivery-retries": delivery,
} as const;

export type QueueName = keyof typeof messages;
export type Message<Q extends QueueName> = z.infer<(typeof messages)[Q]>;
