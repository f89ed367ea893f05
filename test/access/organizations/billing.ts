import type { Billing } from "../../../shared/access/billing/billing-schema.ts";

/** Billing of a paying organization without a seat allowance. */
export const activeBilling: Billing = {
  status: "active",
  trialEndsAt: null,
  interval: "month",
  seatPriceCents: 100,
  seatAllowance: null,
};
