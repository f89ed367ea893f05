import type { Billing } from "../../shared/billing/schema.ts";

/** Of an organization that pays and may do everything. */
export const activeBilling: Billing = {
  status: "active",
  trialEndsAt: null,
  interval: "month",
  seatPriceCents: 100,
  seatAllowance: null,
};
