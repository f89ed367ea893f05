/** What the server answers about breaches, accounts and domains. */
import type { Reply } from "../loopback.ts";
import type { Breach, Breaches } from "./breach-files.ts";

export const ok = (body: unknown): Reply => ({ status: 200, body });

export const notFound: Reply = { status: 404 };

export const refuse = (status: number, message: string): Reply => ({
  status,
  body: { statusCode: status, message },
});

export const breaches = ({ catalog }: Breaches): Reply => ok(catalog);

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
  const found = names
    .map((name): Breach => byName.get(name.toLowerCase()) ?? { Name: name })
    .filter(({ IsSensitive, IsRetired }) => IsSensitive !== true && IsRetired !== true);
  return found.length === 0 ? notFound : ok(found.map(({ Name }) => ({ Name })));
};

/** Breach names by alias. */
export const breachedDomain = ({ domains }: Breaches, domain: string): Reply => {
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

/** `rpm`: address look-ups per minute. */
export const subscriptionStatus = (rpm: number): Reply =>
  ok({
    SubscriptionName: "Embedded",
    Description: "The HIBP-compatible server of a local run.",
    SubscribedUntil: "2099-12-31T00:00:00Z",
    Rpm: rpm,
    DomainSearchMaxBreachedAccounts: 10_000_000,
    IncludesStealerLogs: false,
  });
