import * as z from "zod/mini";
import { listedDelivery } from "../deliveries/delivery-schema.ts";

const { status, createdAt, failureReason, waitsFor } = listedDelivery.shape;

/** What became of the messages to the owner of an address. */
export const ownerState = z
  .object({
    hasUnsubscribed: z.boolean().check(z.meta({ description: "The owner wants no messages" })),
    lastMessage: z.nullable(z.object({ status, createdAt, failureReason, waitsFor })),
  })
  .check(z.meta({ id: "OwnerState" }));
export type OwnerState = z.infer<typeof ownerState>;
