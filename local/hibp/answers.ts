/** What the server answers about breaches, accounts and domains. */
import { createHash } from "node:crypto";
import type { Reply } from "../loopback.ts";
import type { Breach, Breaches } from "./breach-files.ts";
import type { Plan } from "./plans.ts";

export const ok = (body: unknown): Reply => ({ status: 200, body });

export const notFound: Reply = { status: 404 };

const found = (list: readonly unknown[]): Reply => (list.length === 0 ? notFound : ok(list));

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
export const breachedAccount = (breaches: Breaches, address: string): Reply => {
  const at = address.lastIndexOf("@");
  if (at < 1 || at === address.length - 1 || /\s/.test(address)) {
    return refuse(400, "The account does not comply with an acceptable format.");
  }
  return found(publicBreaches(breaches, address).map((Name) => ({ Name })));
};

const publicBreaches = ({ domains, byName }: Breaches, address: string): string[] => {
  const at = address.lastIndexOf("@");
  const alias = address.slice(0, at).toLowerCase();
  const names = domains.get(address.slice(at + 1).toLowerCase())?.get(alias) ?? [];
  return names
    .map((name): Breach => byName.get(name.toLowerCase()) ?? { Name: name })
    .filter(({ IsSensitive, IsRetired }) => IsSensitive !== true && IsRetired !== true)
    .map(({ Name }) => Name);
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

export const breach = ({ byName }: Breaches, name: string): Reply => {
  const one = byName.get(name.toLowerCase());
  return one === undefined ? notFound : ok(one);
};

export const dataClasses = ({ catalog }: Breaches): Reply =>
  ok(
    [
      ...new Set(catalog.flatMap(({ DataClasses }) => (Array.isArray(DataClasses) ? DataClasses : []))),
    ].sort(),
  );

/** What is left of the hashes that begin with `prefix`, and the public breaches of their addresses. */
export const breachedAccountRange = (breaches: Breaches, prefix: string): Reply => {
  if (!/^[0-9a-f]{6}$/i.test(prefix)) return refuse(400, "Invalid hex prefix");
  const addresses = [...breaches.domains].flatMap(([domain, aliases]) =>
    [...aliases.keys()].map((alias) => `${alias}@${domain}`),
  );
  return found(
    addresses.flatMap((address) => {
      const hash = createHash("sha1").update(address).digest("hex").toUpperCase();
      const websites = publicBreaches(breaches, address);
      return hash.startsWith(prefix.toUpperCase()) && websites.length > 0
        ? [{ hashSuffix: hash.slice(prefix.length), websites }]
        : [];
    }),
  );
};

/** Websites of one address, in order of the alphabet. */
export const stealerLogsByEmail = ({ stealerLogs }: Breaches, address: string): Reply =>
  found(stealerLogs.get(address.toLowerCase()) ?? []);

/** Addresses that signed in to a website. */
export const stealerLogsByWebsiteDomain = ({ stealerLogs }: Breaches, domain: string): Reply =>
  found(
    [...stealerLogs]
      .filter(([, websites]) => websites.includes(domain.toLowerCase()))
      .map(([address]) => address)
      .sort(),
  );

/** Websites by alias. */
export const stealerLogsByEmailDomain = ({ stealerLogs }: Breaches, domain: string): Reply => {
  const ofDomain = [...stealerLogs]
    .filter(([address]) => address.endsWith(`@${domain.toLowerCase()}`))
    .map(([address, websites]) => [address.slice(0, address.lastIndexOf("@")), websites]);
  return ofDomain.length === 0 ? notFound : ok(Object.fromEntries(ofDomain.sort()));
};
