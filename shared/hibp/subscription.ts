/**
 * What the HIBP subscription allows: its rate, and the domains that it can search. The table keeps HIBP's
 * answers in one row with the plan and one row for each domain. So looking up a few domains costs the same
 * with ten thousand.
 */
import { chunk } from "../aws/table/chunk.ts";
import type { Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import {
  type SubscribedDomain,
  subscribedDomains,
  subscriptionStatus,
  UpstreamFailure,
  type UpstreamFailureKind,
} from "./hibp.ts";
import { planNotices } from "./plan-notices.ts";
import {
  type Coverage,
  cautiousRpm,
  domainKey,
  listedDomains,
  maximumAgeSeconds,
  type SubscriptionRow,
  storedCoverage,
  storedSubscription,
} from "./subscription-state.ts";
import { withUpstream } from "./upstream.ts";

/** `waitSeconds` limits how long a call waits until the rate limiter lets it send. */
export type Waiting = { waitSeconds?: number };

const coverageMaxAgeSeconds = 60;
const defaultWaitSeconds = 60;

/**
 * What HIBP says of a key that can do nothing. Other failures of `subscription/status` say nothing about
 * other endpoints.
 */
export const endsEverything: readonly (string | undefined)[] = ["unauthorized", "no_subscription"];

/** Whether a failure of this kind means that the plan lacks the list of domains, if HIBP accepts the key. */
export const lacks = (kind: UpstreamFailureKind): boolean =>
  ["unauthorized", "no_subscription", "forbidden", "bad_request"].includes(kind);

/**
 * The rate, and what HIBP says about these domains (lower case). Asks HIBP again when its answer is older
 * than an hour. An answer that lacks a domain is good for a minute. Without a new answer, the last one holds.
 * @throws UpstreamFailure of kind `unauthorized` or `no_subscription`
 */
export const forDomains = async (
  domains: readonly string[],
  options: Waiting = {},
): Promise<{ rpm: number; coverage: Coverage }> => {
  let coverage = await storedCoverage(domains);
  const isComplete = domains.every((domain) => coverage.listed.has(domain));
  if (isOld(coverage.subscription, isComplete ? maximumAgeSeconds : coverageMaxAgeSeconds)) {
    await refresh(options).catch((error: unknown) => {
      if (!(error instanceof UpstreamFailure) || endsEverything.includes(error.kind)) throw error;
    });
    coverage = await storedCoverage(domains);
  }
  return { rpm: coverage.subscription?.rpm ?? cautiousRpm, coverage };
};

const isOld = (row: SubscriptionRow | undefined, maxAgeSeconds: number): boolean =>
  row?.at === undefined ||
  endsEverything.includes(row.failedFor) ||
  Date.now() - Date.parse(row.at) > 1_000 * maxAgeSeconds;

/**
 * Asks HIBP with two calls and stores what it answers; the rest stays as stored. That the plan lacks the list
 * of domains is an answer.
 * @throws UpstreamFailure, the first other one; of kind `unauthorized` or `no_subscription` only for the
 * status
 */
export const refresh = async (options: Waiting = {}): Promise<void> => {
  const deadline = Date.now() + (options.waitSeconds ?? defaultWaitSeconds) * 1_000;
  const ask = <T>(rpm: number, call: () => Promise<T>): Promise<T | UpstreamFailure> =>
    withUpstream(rpm, call, { waitSeconds: Math.max(0, (deadline - Date.now()) / 1_000) }).catch(
      (error: unknown) => {
        if (error instanceof UpstreamFailure) return error;
        throw error;
      },
    );
  const at = new Date().toISOString();
  const known = await storedSubscription();
  const knownRpm = known?.rpm ?? cautiousRpm;
  const status = await ask(knownRpm, subscriptionStatus);
  if (status instanceof UpstreamFailure && endsEverything.includes(status.kind)) {
    await table.update(keys.subscription(), { set: { failedAt: at, failedFor: status.kind } });
    throw status;
  }
  const answered = status instanceof UpstreamFailure ? undefined : status;
  const list = await ask(answered?.rpm ?? knownRpm, subscribedDomains);
  const lacksList = answered !== undefined && list instanceof UpstreamFailure && lacks(list.kind);
  const listed = lacksList ? [] : list;
  const isListed = !(listed instanceof UpstreamFailure);
  if (isListed) await storeDomains(listed);
  const failure = [status, listed].find((each) => each instanceof UpstreamFailure);
  // A 429 is not noted: HIBP works.
  const noted = failure && failure.kind !== "rate_limited" && { failedAt: at, failedFor: failure.kind };
  const notices = planNotices(
    answered ?? known ?? {},
    isListed ? listed : await listedDomains(),
    await hasSeveralOrganizations(),
    new Date(),
  );
  const domainSearch = lacksList ? "missing" : isListed ? "included" : undefined;
  await table.update(keys.subscription(), {
    set: { ...(answered && { ...answered, at }), domainSearch, notices, ...noted },
    ...(failure === undefined && { remove: ["failedAt", "failedFor"] }),
  });
  if (failure !== undefined) throw failure;
};

const hasSeveralOrganizations = async (): Promise<boolean> => {
  const rows = await table.query({ pk: keys.organizations(0).pk, limit: 2 });
  return rows.length > 1;
};

/**
 * Writes only what differs. Two concurrent calls can leave a mixture of both answers until the next refresh.
 */
const storeDomains = async (domains: readonly SubscribedDomain[]): Promise<void> => {
  const stored = new Map((await listedDomains()).map((domain) => [domain.name, domain]));
  const wanted = new Set(domains.map(({ name }) => name));
  const writes: Write[] = [
    ...domains
      .filter((domain) => !isSame(domain, stored.get(domain.name)))
      .map((domain) => ({ put: { ...domainKey(domain.name), ...domain } })),
    ...[...stored.keys()].filter((name) => !wanted.has(name)).map((name) => ({ delete: domainKey(name) })),
  ];
  for (const batch of chunk(writes, table.maxTransactionWrites)) await table.transact(batch);
};

const isSame = (domain: SubscribedDomain, row: Partial<SubscribedDomain> | undefined): boolean =>
  row !== undefined &&
  Object.entries(domain).every(([name, value]) => row[name as keyof SubscribedDomain] === value);
