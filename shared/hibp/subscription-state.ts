/** What is stored of the HIBP subscription, for callers that do not ask HIBP. */
import { type Key, keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { SubscribedDomain, SubscriptionStatus, UpstreamFailureKind } from "./hibp.ts";

/**
 * What operators and organizations should know of the plan (plan-notices.ts). `id`: stays while the notice
 * means the same; `domain`: the name of the domain that it is about, if it is about one.
 */
export type PlanNotice = { id: string; text: string; domain?: string };

/**
 * The status as HIBP last answered it, `at` this time (ISO 8601); nothing of it before its first answer. `failedAt`,
 * `failedFor`: when and why HIBP last did not answer status or domains, unless both have been answered since.
 */
export type SubscriptionRow = Partial<SubscriptionStatus> & {
  at?: string;
  failedAt?: string;
  failedFor?: UpstreamFailureKind;
  /** Whether HIBP lists the domains of this key; undefined until it has listed them or refused to. */
  domainSearch?: "included" | "missing";
  /** As of `at`. */
  notices?: PlanNotice[];
};

const lastOf = (...times: (string | undefined)[]): number =>
  Math.max(...times.map((time) => Date.parse(time ?? "1970-01-01")));

/** Every catalog sync refreshes the subscription: four times in this time. */
export const maximumAgeSeconds = 3_600;

/**
 * Whether no sync has asked HIBP within the last hour. A sync that fails is not silent, and before HIBP's first answer
 * each sync fails.
 */
export const isSyncSilent = async (now: Date): Promise<boolean> => {
  const row = await table.get<SubscriptionRow>(keys.subscription(), { consistent: false });
  const lastAt = lastOf(row?.at, row?.failedAt);
  return lastAt > 0 && now.getTime() - lastAt > 1_000 * maximumAgeSeconds;
};

/**
 * The subscription as HIBP last answered it, and whether HIBP has answered within the last hour and not failed since.
 */
export const state = async (
  now: Date,
): Promise<{
  upstream: { plan: string | null; subscribedUntil: string | null; isWorking: boolean };
  notices: readonly PlanNotice[];
}> => {
  const row = await table.get<SubscriptionRow>(keys.subscription(), { consistent: false });
  const { plan = null, subscribedUntil = null, notices = [] } = row ?? {};
  const isRecent = now.getTime() - lastOf(row?.at) <= 1_000 * maximumAgeSeconds;
  return {
    upstream: { plan, subscribedUntil, isWorking: isRecent && row?.failedAt === undefined },
    notices,
  };
};

export const domainPrefix = "DOMAIN#";

/** The row of a domain (lower case) that was verified at HIBP. */
export const domainKey = (name: string): Key => ({
  pk: keys.subscription().pk,
  sk: `${domainPrefix}${name}`,
});

/** The row of the subscription; undefined before HIBP's first answer. */
export const storedSubscription = async (): Promise<SubscriptionRow | undefined> => {
  const { pk: _, sk: __, ...row } = (await table.get<SubscriptionRow & Key>(keys.subscription())) ?? {};
  return Object.keys(row).length === 0 ? undefined : row;
};

/** The rate of the smallest subscription, used until HIBP says which subscription it is. */
export const cautiousRpm = 10;

/** Requests a minute that HIBP allows, as far as it has said so. */
export const rate = async (): Promise<number> => (await storedSubscription())?.rpm ?? cautiousRpm;

/** Every domain that was verified at HIBP, in order of the alphabet. */
export const listedDomains = async (): Promise<SubscribedDomain[]> => {
  const rows = await table.query<SubscribedDomain & Key>({
    pk: keys.subscription().pk,
    prefix: domainPrefix,
  });
  return rows.map(({ pk: _, sk, ...row }) => ({ ...row, name: sk.slice(domainPrefix.length) }));
};

/** `listed`: the domains that were verified at HIBP; `subscription`: undefined before HIBP's first answer. */
export type Coverage = {
  listed: ReadonlyMap<string, SubscribedDomain>;
  subscription: SubscriptionRow | undefined;
};

export const storedCoverage = async (domains: readonly string[]): Promise<Coverage> => {
  const [subscription, ...rows] = await table.getMany<SubscriptionRow | (SubscribedDomain & Key)>([
    keys.subscription(),
    ...domains.map(domainKey),
  ]);
  return {
    listed: new Map(
      domains.flatMap((domain, index) => {
        const row = rows[index];
        return row === undefined ? [] : [[domain, row as SubscribedDomain & Key]];
      }),
    ),
    subscription: subscription as SubscriptionRow | undefined,
  };
};

/**
 * Why HIBP does not search a domain whole, so that its addresses are looked up one by one. `refused`: HIBP
 * refused the search without having listed the domains, so it is not known which of the others holds.
 */
export type NoSearch = "not_verified" | "too_large" | "no_domain_search" | "refused";

/** What a stored answer says about a domain (lower case): undefined, that it is worth asking HIBP about it. */
export const noSearchOf = (name: string, { listed, subscription }: Coverage): NoSearch | undefined => {
  if (subscription?.domainSearch === "missing") return "no_domain_search";
  return subscription?.domainSearch === "included" && !listed.has(name) ? "not_verified" : undefined;
};

/** The end of a sentence about a domain. */
export const noSearchInWords: Readonly<Record<NoSearch, string>> = {
  not_verified: "not verified at HIBP",
  too_large: "too large for the plan, or more domains than the plan has",
  no_domain_search: "the plan has no domain search",
  refused: "HIBP refuses to search it",
};
