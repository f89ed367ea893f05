import type { RefusalName } from "../api/errors.ts";
import { type Condition, condition, type Write } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import type { Billing, BillingStatus } from "./schema.ts";

const lapsedRefusals: Partial<Record<BillingStatus, RefusalName>> = {
  trial_expired: "trialExpired",
  subscription_inactive: "subscriptionInactive",
  price_not_recognized: "priceNotRecognized",
  collection_paused: "collectionPaused",
};

/**
 * The refusal of a lapsed organization (interface.md "Errors" 402), or undefined while it is served. What a row should not
 * hold, a status that is none or a trial without an end, is not served.
 */
export const lapse = (billing: Billing, now: Date): RefusalName | undefined => {
  const { status, trialEndsAt } = billing;
  if (status === "active" || status === "past_due") return undefined;
  if (status === "trialing" && trialEndsAt !== null) {
    return trialEndsAt <= now.toISOString() ? "trialExpired" : undefined;
  }
  return lapsedRefusals[status] ?? "subscriptionInactive";
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
const trialDays = 14;

/** The billing in another status: a trial brings a seat allowance, which ends with it, and always has an end. */
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

/** A trial keeps its end; a new one does not begin with an end that is past. */
const trialEnd = ({ status, trialEndsAt }: Billing, now: Date): string =>
  trialEndsAt !== null && (status === "trialing" || trialEndsAt > now.toISOString())
    ? trialEndsAt
    : new Date(now.getTime() + trialDays * 24 * 60 * 60 * 1000).toISOString();

/**
 * Takes or frees seats, in the transaction that makes e-mails active or not. Taking is refused beyond the allowance,
 * however many try at once.
 */
export const seats = (org: number, by: number, billing: Billing): Write => ({
  update: keys.seats(org),
  add: { active: by },
  ...(by > 0 && billing.seatAllowance !== null && { if: hasRoom(by, billing.seatAllowance) }),
});

const hasRoom = (by: number, allowance: number): Condition => {
  const atMost = allowance - by;
  return atMost < 0
    ? condition("attribute_exists(#pk) AND attribute_not_exists(#pk)")
    : condition("attribute_not_exists(#active) OR #active <= :atMost", { atMost });
};
