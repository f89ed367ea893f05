/** What the server answers about breaches, accounts and domains. */
import type { Reply } from "../loopback.ts";
import type { Breach, Breaches } from "./breach-files.ts";

export const ok = (body: unknown): Reply => ({ status: 200, body });

export const notFound: Reply = { status: 404 };

export const refuse = (status: number, message: string): Reply => ({
  status,
  body: { statusCode: status, message },
});

export const breaches = ({ catalog }: Breaches, query: URLSearchParams): Reply => {
  const domain = query.get("domain")?.toLowerCase();
  return ok(domain === undefined ? catalog : catalog.filter((breach) => isOfDomain(breach, domain)));
};

export const breach = ({ byName }: Breaches, name: string): Reply =>
  okOrNotFound(byName.get(name.toLowerCase()));

export const latestBreach = ({ catalog }: Breaches): Reply =>
  okOrNotFound([...catalog].sort((a, b) => compareText(b.AddedDate, a.AddedDate))[0]);

export const dataClasses = ({ catalog }: Breaches): Reply => {
  const names = catalog.flatMap(({ DataClasses }) => (Array.isArray(DataClasses) ? DataClasses : []));
  return ok([...new Set(names.map(String))].sort());
};

/** Breaches of one address, without sensitive and retired ones, which only a domain search returns. */
export const breachedAccount = (
  { domains, byName }: Breaches,
  address: string,
  query: URLSearchParams,
): Reply => {
  const at = address.lastIndexOf("@");
  if (at < 1 || at === address.length - 1 || /\s/.test(address)) {
    return refuse(400, "The account does not comply with an acceptable format.");
  }
  const alias = address.slice(0, at).toLowerCase();
  const names = domains.get(address.slice(at + 1).toLowerCase())?.get(alias) ?? [];
  const domain = query.get("domain")?.toLowerCase();
  const found = names
    .map((name): Breach => byName.get(name.toLowerCase()) ?? { Name: name })
    .filter(({ IsSensitive, IsRetired }) => IsSensitive !== true && IsRetired !== true)
    .filter(({ IsVerified }) => query.get("IncludeUnverified") !== "false" || IsVerified !== false)
    .filter((each) => domain === undefined || isOfDomain(each, domain));
  if (found.length === 0) return notFound;
  const isTruncated = query.get("truncateResponse")?.toLowerCase() !== "false";
  return ok(isTruncated ? found.map(({ Name }) => ({ Name })) : found);
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

const okOrNotFound = (body: unknown): Reply => (body === undefined ? notFound : ok(body));

const isOfDomain = ({ Domain }: Breach, domain: string): boolean =>
  String(Domain ?? "").toLowerCase() === domain;

const compareText = (a: unknown, b: unknown): number => String(a ?? "").localeCompare(String(b ?? ""));
