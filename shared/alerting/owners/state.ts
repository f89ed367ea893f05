import { emails } from "../../monitoring/emails/record.ts";
import { deliveries, waitsForOf } from "../deliveries/delivery.ts";
import { consentsOf } from "../kinds/email/recipient.ts";
import type { OwnerState } from "./owner-schema.ts";

/** What became of the messages to the owner of an e-mail. */
export const stateOf = async (
  org: number,
  { id, email }: { id: number; email: string },
): Promise<OwnerState> => {
  const [row, [consent]] = await Promise.all([emails.get(org, id), consentsOf(org, [email])]);
  const deliveryId = row?.ownerDelivery;
  // None: there was nobody to tell any more.
  const delivery = deliveryId === undefined ? undefined : await deliveries.get(org, deliveryId);
  return {
    hasUnsubscribed: consent === "refused",
    lastMessage:
      delivery === undefined
        ? null
        : {
            status: delivery.status,
            createdAt: delivery.createdAt,
            failureReason: delivery.failureReason,
            waitsFor: waitsForOf(delivery, new Date()),
          },
  };
};
