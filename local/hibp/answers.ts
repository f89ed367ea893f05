/** What the server answers about breaches, accounts and domains. */
import type { Reply } from "../loopback.ts";
import type { Breach, Breaches } from "./breach-files.ts";
import type { Plan } from "./plans.ts";

export const ok = (body: unknown): Reply => ({ status: 200, body });

export const notFound: Reply = { status: 404 };

const unlessEmpty = (list: readonly unknown[]): Reply => (list.length === 0 ? notFound : ok(list));

export const refuse = (status: number, message: string): Reply => ({
  status,
  body: { statusCode: status, message },
});

/** The breach that was added last: the one with the highest `AddedDate`. */
export const latestBreach = ({ catalog }: Breaches): Reply => {
  const addedAt = ({ AddedDate }: Breach) => String(AddedDate ?? "");
  const [latest] = catalog.toSorted((a, b) => addedAt(b).localeCompare(addedAt(a)));
  return latest === undefined ? notFound : ok(latest);
};

/** Names of one address's breaches, without sensitive and retired ones, which only a domain search returns. */
export const breachedAccount = ({ domains, byName }: Breaches, address: string): Reply => {
  const at = address.lastIndexOf("@");
  if (at < 1 || at === address.length - 1 || /\s/.test(address)) {
    return refuse(400, "The account does not comply with an acceptable format.");
  }
  const alias = address.slice(0, at).toLowerCase();
  const names = domains.get(address.slice(at + 1).toLowerCase())?.get(alias) ?? [];
  return unlessEmpty(
    names
      .map((name): Breach => byName.get(name.toLowerCase()) ?? { Name: name })
      .filter(({ IsSensitive, IsRetired }) => IsSensitive !== true && IsRetired !== true)
      .map(({ Name }) => ({ Name })),
  );
};

/** What is known of the domain's addresses, by alias. */
export const ofDomain = (domains: Breaches["domains"], domain: string): Reply => {
  const aliases = domains.get(domain.toLowerCase());
  return aliases === undefined || aliases.size === 0 ? notFound : ok(Object.fromEntries(aliases));
};

export const subscribedDomains = ({ domains }: Breaches, subscribed: Iterable<string>): Reply =>
  ok(
    [...subscribed].map((domain) => {
      const aliases = domains.get(domain) ?? new Map<string, readonly string[]>();
      return {
        DomainName: domain,
        BreachCount: new Set([...aliases.values()].flat()).size,
        PwnCount: aliases.size,
        PwnCountExcludingSpamLists: aliases.size,
        PwnCountExcludingSpamListsAtLastSubscriptionRenewal: aliases.size,
        NextSubscriptionRenewal: "2099-12-31T00:00:00Z",
      };
    }),
  );

export const subscriptionStatus = (plan: Plan): Reply =>
  ok({
    SubscriptionName: plan.name,
    Description: "The HIBP-compatible server of a local run.",
    SubscribedUntil: "2099-12-31T00:00:00Z",
    Rpm: plan.rpm,
    DomainSearchMaxBreachedAccounts: plan.includesDomainSearch ? 10_000_000 : null,
    MaxBreachedDomains: null,
    IncludesStealerLogs: plan.isPro,
    IncludesBulkDomainAdd: plan.isPro,
    IncludesAutoSubdomainVerification: plan.isPro,
    IncludesCustomerDomains: plan.isPro,
    IncludesKAnon: plan.includesKAnon,
  });
