/** What is stored of the HIBP subscription, for those who ask nobody. */
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";

export type Subscription = {
  /** Requests a minute. */
  rpm: number;
  /** When HIBP was asked, ISO 8601. */
  at: string;
};

/** `subscribedUntil`: ISO 8601; `failedAt`: when HIBP last gave no answer, unless it has answered since. */
export type SubscriptionRow = Subscription & {
  plan?: string | null;
  subscribedUntil?: string | null;
  failedAt?: string;
};

/** Every catalog sync refreshes the subscription: four times in this time. */
export const maximumAgeSeconds = 3_600;

/**
 * Whether no sync has asked HIBP within the last hour. A sync that fails is not silent, and before HIBP's first answer
 * each sync fails.
 */
export const isSyncSilent = async (now: Date): Promise<boolean> => {
  const row = await table.get<SubscriptionRow>(keys.subscription(), { consistent: false });
  if (row === undefined) return false;
  const lastAt = Math.max(Date.parse(row.at), Date.parse(row.failedAt ?? row.at));
  return now.getTime() - lastAt > 1_000 * maximumAgeSeconds;
};

/** The subscription as HIBP last answered it, and whether HIBP has answered within the last hour and not failed since. */
export const state = async (
  now: Date,
): Promise<{ plan: string | null; subscribedUntil: string | null; isWorking: boolean }> => {
  const row = await table.get<SubscriptionRow>(keys.subscription(), { consistent: false });
  const { plan = null, subscribedUntil = null } = row ?? {};
  const isRecent = row !== undefined && now.getTime() - Date.parse(row.at) <= 1_000 * maximumAgeSeconds;
  return { plan, subscribedUntil, isWorking: isRecent && row.failedAt === undefined };
};

export const domainPrefix = "DOMAIN#";

/** The row of a domain (lower case) that the subscription can search. */
export const domainKey = (name: string): Key => ({
  pk: keys.subscription().pk,
  sk: `${domainPrefix}${name}`,
});

/** `at`: when HIBP said so, ISO 8601; undefined before the first answer. */
export type Coverage = { covered: ReadonlySet<string>; at: string | undefined };

export const storedCoverage = async (domains: readonly string[]): Promise<Coverage> => {
  const [subscription, ...rows] = await table.getMany<{ at?: string }>([
    keys.subscription(),
    ...domains.map(domainKey),
  ]);
  return {
    covered: new Set(domains.filter((_, index) => rows[index] !== undefined)),
    at: subscription?.at,
  };
};
