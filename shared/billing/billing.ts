import type { RefusalName } from "../api/errors.ts";
import { type Condition, condition, type Write } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import type { Billing, BillingStatus } from "./schema.ts";

const lapsedRefusals = {
  trial_expired: "trialExpired",
  subscription_inactive: "subscriptionInactive",
  price_not_recognized: "priceNotRecognized",
  collection_paused: "collectionPaused",
} as const satisfies Partial<Record<BillingStatus, RefusalName>>;

/** The refusal of a lapsed organization (interface.md "Errors" 402), or undefined while it is served. */
export const lapse = (billing: Billing, now: Date): RefusalName | undefined => {
  const { status, trialEndsAt } = billing;
  if (status === "trialing") {
    return trialEndsAt !== null && trialEndsAt <= now.toISOString() ? "trialExpired" : undefined;
  }
  return status === "active" || status === "past_due" ? undefined : lapsedRefusals[status];
};

/** Whether work is done for an organization; undefined is one that is gone. */
export const isServed = (
  organization: { billing: Billing; deleting?: boolean } | undefined,
  now: Date,
): boolean =>
  organization !== undefined &&
  organization.deleting !== true &&
  lapse(organization.billing, now) === undefined;

const trialSeatAllowance = 25;

/** The billing in another status: a trial brings a seat allowance, which ends with it. */
export const withStatus = (billing: Billing, status: BillingStatus): Billing => {
  if ((status === "trialing") === (billing.status === "trialing")) return { ...billing, status };
  return { ...billing, status, seatAllowance: status === "trialing" ? trialSeatAllowance : null };
};

/**
 * Takes or frees seats, in the transaction that makes e-mails active or not. Taking is refused beyond the allowance,
 * however many try at once.
 */
export const seats = (org: number, by: number, billing: Billing): Write => ({
  update: keys.seats(org),
  add: { active: by },
  ...(by > 0 && billing.seatAllowance !== null && { if: withinAllowance(by, billing.seatAllowance) }),
});

const withinAllowance = (by: number, allowance: number): Condition => {
  const atMost = allowance - by;
  return atMost < 0
    ? condition("attribute_exists(#pk) AND attribute_not_exists(#pk)")
    : condition("attribute_not_exists(#active) OR #active <= :atMost", { atMost });
};
