import { allOf, type Condition, condition, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { type RefusalName, refusals } from "../../contract/errors.ts";
import type { LapsedReason } from "../organizations/organization-schema.ts";
import type { Billing, BillingStatus, Quote } from "./billing-schema.ts";

const refusalByStatus: Partial<Record<BillingStatus, RefusalName>> = {
  trial_expired: "trialExpired",
  subscription_inactive: "subscriptionInactive",
  price_not_recognized: "priceNotRecognized",
  collection_paused: "collectionPaused",
};

/**
 * The 402 refusal of an organization whose trial or subscription has ended; undefined while the organization
 * is served. Fails closed: an unknown status, and a trial without an end, are refused as inactive.
 */
export const billingRefusal = (billing: Billing, now: Date): RefusalName | undefined => {
  const { status, trialEndsAt } = billing;
  if (status === "active" || status === "past_due") return undefined;
  if (status === "trialing" && trialEndsAt !== null) {
    return trialEndsAt <= now.toISOString() ? "trialExpired" : undefined;
  }
  return refusalByStatus[status] ?? "subscriptionInactive";
};

/** Why an organization is not served; null while it is. */
export const lapsedReason = (billing: Billing, now: Date): LapsedReason => {
  const refusal = billingRefusal(billing, now);
  return refusal === undefined ? null : (refusals[refusal] as { reason: LapsedReason }).reason;
};

/** Whether the service works for the organization: it exists, is not being deleted, and billing allows it. */
export const isServed = (
  organization: { billing: Billing; deleting?: boolean } | undefined,
  now: Date,
): boolean =>
  organization !== undefined &&
  organization.deleting !== true &&
  billingRefusal(organization.billing, now) === undefined;

const trialSeatAllowance = 25;
const trialDays = 14;

/**
 * The billing after a change of status. A trial has an end, and a seat allowance that ends with the trial.
 */
export const withStatus = (billing: Billing, status: BillingStatus, now: Date): Billing => {
  const isTrial = status === "trialing";
  const wasTrial = billing.status === "trialing";
  return {
    ...billing,
    status,
    trialEndsAt: isTrial ? trialEnd(billing, now) : billing.trialEndsAt,
    seatAllowance: isTrial === wasTrial ? billing.seatAllowance : isTrial ? trialSeatAllowance : null,
  };
};

/** A running trial keeps its end. A new trial takes over an earlier end only if that lies in the future. */
const trialEnd = ({ status, trialEndsAt }: Billing, now: Date): string =>
  trialEndsAt !== null && (status === "trialing" || trialEndsAt > now.toISOString())
    ? trialEndsAt
    : new Date(now.getTime() + trialDays * 24 * 60 * 60 * 1000).toISOString();

/**
 * Takes (`by` > 0) or frees (`by` < 0) seats, in the transaction that changes the e-mails. The condition
 * fails above the allowance, so that concurrent requests cannot exceed it together.
 */
export const seats = (org: number, by: number, billing: Billing): Extract<Write, { update: Key }> => ({
  update: keys.seats(org),
  add: { active: by },
  ...(by > 0 && billing.seatAllowance !== null && { if: hasRoom(by, billing.seatAllowance) }),
});

/** The check that exactly as many e-mails are active as when a quote was made. */
export const asQuoted = (org: number, active: number): Write & { if: Condition } => {
  const isNone = active === 0 ? "attribute_not_exists(#active) OR " : "";
  const isSame = condition(`${isNone}#active = :quoted`, { quoted: active });
  return { check: keys.seats(org), if: isSame, refusal: "quoteMismatch" };
};

/** `seats` and `asQuoted` in one write. */
export const quotedSeats = (org: number, by: number, billing: Billing, active: number): Write => {
  const taken = seats(org, by, billing);
  const quoted = asQuoted(org, active);
  return { ...taken, if: allOf(taken.if, quoted.if), refusal: "quoteMismatch" };
};

const hasRoom = (by: number, allowance: number): Condition => {
  const atMost = allowance - by;
  const isNone = atMost < 0 ? "" : "attribute_not_exists(#active) OR ";
  return condition(`${isNone}#active <= :atMost`, { atMost });
};

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
