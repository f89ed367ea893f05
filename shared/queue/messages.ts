import * as z from "zod/mini";

/**
 * The message of every queue. A message only wakes a worker: the truth is in the table, so each can be lost, repeated or late.
 * Messages that changed form between two deployments fail here and end in the dead-letter queue.
 */
const id = z.int().check(z.positive());

/** One domain answer's differences for one e-mail: what to add, what disappeared upstream, what came back (breach ids). */
const emailChange = z.object({
  emailId: id,
  found: z.array(id),
  gone: z.array(id),
  back: z.array(id),
});
export type EmailChange = z.infer<typeof emailChange>;

/** `slow`: a first attempt that goes by way of the retries' lane, since its channel is slow to answer. */
const delivery = z.object({
  organizationId: id,
  deliveryId: id,
  channelId: id,
  attempt: z.int().check(z.positive()),
  slow: z.optional(z.boolean()),
});

export const messages = {
  /** `turn`: a message with another one than the scan lock's is late or repeated, and dropped. `resume`: send what was lost. */
  "scan-plans": z.object({
    organizationId: id,
    scanId: id,
    turn: z.int().check(z.minimum(0)),
    resume: z.optional(z.boolean()),
  }),
  /** `batch` and `chunk` name the work in the scan's `remaining`; the chunk is ranges of e-mail ids. */
  "scan-chunks": z.object({
    organizationId: id,
    scanId: id,
    batch: id,
    chunk: z.string(),
    checkedAt: z.string(),
    changes: z.array(emailChange),
    /** E-mails of the chunk that were no longer part of the scan when this was sent again. */
    skipped: z.optional(z.int().check(z.minimum(0))),
  }),
  /** A message with another cursor than the row's is late or repeated, and dropped. */
  "scan-lookups": z.object({
    organizationId: id,
    scanId: id,
    batch: id,
    chunk: z.string(),
    cursor: z.int().check(z.minimum(0)),
  }),
  deliveries: delivery,
  "delivery-retries": delivery,
} as const;

export type QueueName = keyof typeof messages;
export type Message<Q extends QueueName> = z.infer<(typeof messages)[Q]>;
