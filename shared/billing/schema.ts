import * as z from "zod/mini";

/** decisions.md "Subscription states"; the last four are the lapsed reasons of interface.md "Errors" 402. */
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

export const billing = z.object({
  status: billingStatus,
  /** ISO 8601; a trial is over from then on. */
  trialEndsAt: z.nullable(z.string()),
  interval: billingInterval,
  seatPriceCents: z.int().check(z.minimum(0)),
  /** Most e-mails that may be active; null: any number. */
  seatAllowance: z.nullable(z.int().check(z.minimum(0))),
});
export type Billing = z.infer<typeof billing>;
