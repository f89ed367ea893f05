import * as z from "zod/mini";
import { count, idField } from "../../contract/page.ts";
import { timestamp } from "../../contract/text.ts";

export const deliveryLabel = z.enum(["delivered", "pending", "retrying", "not delivered"]);
export type DeliveryLabel = z.infer<typeof deliveryLabel>;

/** A delivery as the dashboard shows it. */
export const listedDelivery = z
  .object({
    id: idField.check(z.meta({ description: "The `id` of the event that a webhook receives" })),
    type: z.enum(["breach", "scan_complete", "scan_error"]),
    status: deliveryLabel,
    attempts: count,
    failedAttempts: count,
    createdAt: timestamp,
    lastAttemptAt: z.nullable(timestamp),
    nextAttemptAt: z.nullable(timestamp).check(z.meta({ description: "Null when no attempt is due" })),
    failureReason: z.nullable(z.string()),
  })
  .check(z.meta({ id: "Delivery" }));
export type ListedDelivery = z.infer<typeof listedDelivery>;
