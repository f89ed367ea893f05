import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Billing, Quote } from "./billing-schema.ts";

/** How many e-mails of the organization are active; each takes a seat. */
export const activeCount = async (org: number): Promise<number> =>
  (await table.get<{ active: number }>(keys.seats(org)))?.active ?? 0;

/** How many of `wanted` further e-mails the seat allowance lets be active, when `active` are. */
export const enabledOf = (billing: Billing, active: number, wanted: number): number =>
  billing.seatAllowance === null ? wanted : Math.max(0, Math.min(wanted, billing.seatAllowance - active));

/** An organization pays for at least one seat, also with no active e-mail. */
const paidSeats = (active: number): number => Math.max(1, active);

/** The quote for importing `wanted` e-mails. E-mails beyond the seat allowance would be disabled and free. */
export const quoteFor = (billing: Billing, active: number, wanted: number): Quote => {
  const newActiveCount = active + enabledOf(billing, active, wanted);
  const newSeatsCount = paidSeats(newActiveCount);
  return {
    interval: billing.interval,
    isEstimate: true,
    newSeatsCount,
    newActiveCount,
    estimatedDeltaCents: (newSeatsCount - paidSeats(active)) * billing.seatPriceCents,
  };
};
