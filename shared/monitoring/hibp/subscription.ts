/**
 * What the HIBP subscription allows: its rate, and the domains that it can search. The table keeps HIBP's
 * answers in one row with the rate and one row for each domain, so that looking up a few domains costs the
 * same with ten thousand.
 */
import { chunk } from "../../aws/table/chunk.ts";
import { exists } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { subscribedDomains, subscriptionStatus, UpstreamFailure } from "./hibp.ts";
import {
  domainKey,
  domainPrefix,
  maximumAgeSeconds,
  type Subscription,
  type SubscriptionRow,
  storedCoverage,
} from "./subscription-state.ts";
import { withUpstream } from "./upstream.ts";

/** `waitSeconds` limits how long a call waits until the rate limiter lets it send. */
export type Waiting = { waitSeconds?: number };

const coverageMaxAgeSeconds = 60;
const defaultWaitSeconds = 60;

/** The rate of the smallest subscription, used until HIBP says which subscription it is. */
const cautiousRpm = 10;

/**
 * The subscription, at most `maxAgeSeconds` old (default: an hour); older when HIBP does not answer.
 * @throws UpstreamFailure when no answer is stored and HIBP gives none, or when HIBP does not accept the key.
 */
export const current = async ({
  maxAgeSeconds = maximumAgeSeconds,
  ...waiting
}: { maxAgeSeconds?: number } & Waiting = {}): Promise<Subscription> => {
  const known = await read();
  if (known !== undefined && ageSeconds(known) <= maxAgeSeconds) return known;
  return refreshOr(known, waiting);
};

/**
 * Which of these domains (lower case) the subscription can search. Asks HIBP again when a domain is missing
 * and the stored answer is older than a minute.
 * @throws UpstreamFailure when no answer is stored and HIBP gives none, or when HIBP does not accept the key.
 */
export const covered = async (
  domains: readonly string[],
  options: Waiting = {},
): Promise<ReadonlySet<string>> => {
  const { covered: found } = await storedCoverage(domains);
  if (domains.every((domain) => found.has(domain))) return found;
  const known = await read();
  if (known !== undefined && ageSeconds(known) <= coverageMaxAgeSeconds) return found;
  const refreshed = await refreshOr(known, options);
  return refreshed === known ? found : (await storedCoverage(domains)).covered;
};

/**
 * Asks HIBP with two calls and stores its answers. Throws `UpstreamFailure`; the stored answers then stay.
 */
export const refresh = async (options: Waiting = {}): Promise<Subscription> => {
  const deadline = Date.now() + (options.waitSeconds ?? defaultWaitSeconds) * 1_000;
  const waiting = () => ({ waitSeconds: Math.max(0, (deadline - Date.now()) / 1_000) });
  const at = new Date().toISOString();
  const knownRpm = (await read())?.rpm ?? cautiousRpm;
  try {
    const status = await withUpstream(knownRpm, subscriptionStatus, waiting());
    await storeDomains(await withUpstream(status.rpm, subscribedDomains, waiting()));
    const row: SubscriptionRow = { ...status, at };
    await table.put({ ...keys.subscription(), ...row });
    return { rpm: status.rpm, at };
  } catch (error) {
    if (error instanceof UpstreamFailure && error.kind !== "rate_limited") await noteFailure(at);
    throw error;
  }
};

/** Without an answer that is stored there is nothing to note: `state` then says that HIBP does not work. */
const noteFailure = async (failedAt: string): Promise<void> => {
  await table.attempt(table.update(keys.subscription(), { set: { failedAt }, if: exists }));
};

const refreshOr = async (known: Subscription | undefined, options: Waiting): Promise<Subscription> => {
  try {
    return await refresh(options);
  } catch (error) {
    const mayPass = error instanceof UpstreamFailure && error.kind !== "unauthorized";
    if (known === undefined || !mayPass) throw error;
    return known;
  }
};

const read = async (): Promise<Subscription | undefined> => {
  const row = await table.get<Subscription>(keys.subscription());
  return row === undefined ? undefined : { rpm: row.rpm, at: row.at };
};

const ageSeconds = ({ at }: Subscription): number => (Date.now() - Date.parse(at)) / 1_000;

/**
 * Writes only what differs. Two concurrent calls can leave a mixture of both answers until the next refresh.
 */
const storeDomains = async (domains: readonly string[]): Promise<void> => {
  const wanted = new Set(domains);
  const rows = await table.query<Key>({ pk: keys.subscription().pk, prefix: domainPrefix, project: ["sk"] });
  const stored = new Set(rows.map(({ sk }) => sk.slice(domainPrefix.length)));
  const writes = [
    ...[...wanted].filter((name) => !stored.has(name)).map((name) => ({ put: domainKey(name) })),
    ...[...stored].filter((name) => !wanted.has(name)).map((name) => ({ delete: domainKey(name) })),
  ];
  for (const batch of chunk(writes, table.maxTransactionWrites)) await table.transact(batch);
};
