import * as z from "zod/mini";
import { count, idField, idParameter } from "../../contract/page.ts";
import { timestamp } from "../../contract/text.ts";

export const deliveryStatus = z.enum(["pending", "retrying", "delivered", "not delivered"]);
export type DeliveryStatus = z.infer<typeof deliveryStatus>;

/** Whose deliveries: a channel by its id, or the owners of addresses. */
export const senderParameter = z.union(
  [z.literal("owners"), idParameter("id")],
  "id must be a positive integer, or owners",
);

/** A delivery as the dashboard shows it. */
export const listedDelivery = z
  .object({
    id: idField.check(z.meta({ description: "The `id` of the event that a webhook receives" })),
    type: z.enum(["breach", "scan_complete", "scan_error"]),
    status: deliveryStatus,
    attempts: count,
    failedAttempts: count,
    createdAt: timestamp,
    lastAttemptAt: z.nullable(timestamp),
    nextAttemptAt: z.nullable(timestamp).check(z.meta({ description: "Null when no attempt is due" })),
    failureReason: z
      .nullable(z.string())
      .check(z.meta({ description: "Why an attempt failed or it was given up; stays once another arrives" })),
    title: z
      .string()
      .check(
        z.meta({ description: "What it is about, without addresses", examples: ["PayrollPro: 1 person"] }),
      ),
    owner: z.nullable(z.object({ emailId: idField, email: z.string() })).check(
      z.meta({
        description: "Who gets it, of a message to the owner of an address; null once the e-mail is removed",
      }),
    ),
    waitsFor: z
      .nullable(z.object({ reason: z.string(), until: timestamp }))
      .check(z.meta({ description: "Null when it is over, or an attempt is under way" })),
    lastResponse: z.nullable(z.object({ status: z.int(), durationMs: count, body: z.string() })).check(
      z.meta({
        description:
          "What a webhook or Slack answered to the last attempt, null without an answer. `body`: " +
          "its first 200 printable characters, without parts of the url, values of headers and " +
          "e-mail addresses",
      }),
    ),
  })
  .check(z.meta({ id: "Delivery" }));
export type ListedDelivery = z.infer<typeof listedDelivery>;

/** A delivery with what its last attempt sent. */
export const deliveryInFull = z
  .object({
    ...listedDelivery.shape,
    unreached: z
      .array(z.string())
      .check(z.meta({ description: "Recipients of an e-mail channel whom failed attempts did not reach" })),
    payload: z.nullable(z.string()).check(
      z.meta({
        description:
          "What the last attempt sent, as text, without signature, secret and the link of a " +
          "recipient; null before the first attempt, and once nothing of what it was about would " +
          "be told. Details of breaches, the address and its owner are those of now",
      }),
    ),
  })
  .check(z.meta({ id: "DeliveryInFull" }));
export type DeliveryInFull = z.infer<typeof deliveryInFull>;
