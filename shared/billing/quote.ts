import type { Quote } from "../imports/schema.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { Billing } from "./schema.ts";

/** E-mails of an organization that are active now, each of which takes a seat. */
export const activeCount = async (org: number): Promise<number> =>
  (await table.get<{ active: number }>(keys.seats(org)))?.active ?? 0;

/** How many of `wanted` further e-mails can be active within the seat allowance. */
export const enabledOf = (billing: Billing, active: number, wanted: number): number =>
  billing.seatAllowance === null ? wanted : Math.max(0, Math.min(wanted, billing.seatAllowance - active));

/** An organization pays for one seat at least (interface.md "What the service does"). */
const paidSeats = (active: number): number => Math.max(1, active);

/** What importing `wanted` e-mails comes to (interface.md "Import plan", decisions.md "Import"). */
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
