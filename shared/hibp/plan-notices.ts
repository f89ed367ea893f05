/** What operators and organizations should know of the HIBP subscription before scans suffer from it. */
import type { SubscribedDomain, SubscriptionStatus } from "./hibp.ts";
import { type NoSearch, noSearchInWords, type PlanNotice } from "./subscription-state.ts";

/** The share of its size from which a plan counts as nearly full. */
const nearlyFull = 0.9;

/** Domains that notices say are nearly too large, the largest first: one row holds all notices. */
const maximumLarge = 200;

/** Days before the end of the subscription. */
const warnings = [7, 30];

/**
 * The notices that follow from HIBP's last answers about the plan. `hasSeveral`: there is more than one organization.
 */
export const planNotices = (
  status: Partial<SubscriptionStatus>,
  listed: readonly SubscribedDomain[],
  hasSeveral: boolean,
  now: Date,
): PlanNotice[] => {
  const { plan, subscribedUntil, maxDomains, maxBreachedAccounts, includesCustomerDomains } = status;
  const name = `The plan of Have I Been Pwned${plan ? ` (${plan})` : ""}`;
  const notices: PlanNotice[] = [];
  if (subscribedUntil) {
    const daysLeft = (Date.parse(subscribedUntil) - now.getTime()) / (24 * 3_600_000);
    const within = warnings.find((days) => daysLeft <= days);
    if (within !== undefined && daysLeft > 0) {
      notices.push({
        id: `ends-${within}-${subscribedUntil}`,
        text:
          `${name} ends within ${within} days, on ${subscribedUntil.slice(0, 10)}. Without it no ` +
          "scan can check anything.",
      });
    }
  }
  if (includesCustomerDomains === false && hasSeveral) {
    notices.push({
      id: "customer-domains",
      text:
        `${name} does not allow domains of customers (IncludesCustomerDomains), but this service ` +
        "has more than one organization.",
    });
  }
  const breached = listed.filter(({ pwnCount }) => (pwnCount ?? 0) > 0).length;
  if (maxDomains != null && breached >= nearlyFull * maxDomains) {
    notices.push({
      id: `domains-${maxDomains}`,
      text:
        `${name} searches ${maxDomains} breached domains, and ${breached} are verified at HIBP. ` +
        "The addresses of domains beyond that are looked up one by one, without sensitive breaches.",
    });
  }
  if (maxBreachedAccounts != null) {
    const large = listed
      .map(({ name: domain, pwnCountWithoutSpam, pwnCountAtRenewal }) => ({
        domain,
        size: Math.max(pwnCountWithoutSpam ?? 0, pwnCountAtRenewal ?? 0),
      }))
      .filter(({ size }) => size >= nearlyFull * maxBreachedAccounts)
      .sort((one, other) => other.size - one.size)
      .slice(0, maximumLarge);
    for (const { domain, size } of large) {
      notices.push({
        id: `size-${domain}`,
        text:
          `${domain} has ${size} breached addresses, and the plan of Have I Been Pwned searches ` +
          `domains with up to ${maxBreachedAccounts}. The addresses of a larger domain are looked ` +
          "up one by one, without sensitive breaches.",
        domain,
      });
    }
  }
  return notices;
};

/** Those of the notices that concern an organization with these domains, and what its own domains have lost. */
export const noticesFor = (
  notices: readonly PlanNotice[],
  domains: readonly { name: string; verified: boolean; lostSearch?: NoSearch }[],
): PlanNotice[] => {
  const verified = domains.filter((domain) => domain.verified);
  const names = new Set(verified.map(({ name }) => name));
  return [
    ...notices.filter(({ domain }) => domain === undefined || names.has(domain)),
    ...verified.flatMap(({ name: domain, lostSearch }): PlanNotice[] => {
      if (lostSearch === undefined) return [];
      const text =
        `Have I Been Pwned does not search ${domain} any more: ${noSearchInWords[lostSearch]}. Its ` +
        "addresses are looked up one by one, without sensitive breaches.";
      return [{ id: `lost-${domain}-${lostSearch}`, text, domain }];
    }),
  ];
};
