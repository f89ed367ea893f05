import * as z from "zod/mini";
import { count } from "../../contract/page.ts";

/** Organizations in the last four states are refused with 402; the state is the reply's `reason`. */
export const billingStatus = z.enum([
  "trialing",
  "active",
  "past_due",
  "trial_expired",
  "subscription_inactive",
  "price_not_recognized",
  "collection_paused",
]);
export type BillingStatus = z.infer<typeof billingStatus>;

export const billingInterval = z.enum(["month", "year"]);

const billing = z.object({
  status: billingStatus,
  /** ISO 8601. From this time on a trial is refused as expired. */
  trialEndsAt: z.nullable(z.string()),
  interval: billingInterval,
  seatPriceCents: z.int().check(z.minimum(0)),
  /** How many e-mails may be active at most; null: any number. */
  seatAllowance: z.nullable(z.int().check(z.minimum(0))),
});
export type Billing = z.infer<typeof billing>;

/** The price of an import. Its counts are totals after the import; its cents are the difference to before. */
export const quote = z
  .object({
    interval: billingInterval,
    isEstimate: z.boolean(),
    newSeatsCount: count.check(z.meta({ description: "Paid seats after the import" })),
    newActiveCount: count.check(z.meta({ description: "Active e-mails after the import" })),
    estimatedDeltaCents: z.int().check(z.meta({ description: "How much more is paid for each interval" })),
  })
  .check(z.meta({ id: "Quote" }));
export type Quote = z.infer<typeof quote>;
