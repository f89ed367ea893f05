/**
 * What the HIBP subscription allows: its rate, and the domains that it can search. HIBP says so, the table keeps it: one
 * small row with the rate, and one row for each domain, so that asking about a few costs the same with ten thousand.
 */
import { type Key, keys } from "../table/keys.ts";
import { parts } from "../table/parts.ts";
import * as table from "../table/table.ts";
import { subscribedDomains, subscriptionStatus, UpstreamFailure } from "./hibp.ts";
import { withUpstream } from "./upstream.ts";

export type Subscription = {
  /** Requests a minute. */
  rpm: number;
  /** When HIBP was asked, ISO 8601. */
  at: string;
};

/** How long to wait for a turn at the upstream. */
export type Waiting = { waitSeconds?: number };

/** Four catalog syncs, each of which refreshes. */
const defaultMaxAgeSeconds = 3_600;
const coverageMaxAgeSeconds = 60;
const defaultWaitSeconds = 60;

/** The smallest subscription's rate: right for any, until HIBP says which it is. */
const cautiousRpm = 10;

const domainPrefix = "DOMAIN#";
const domainKey = (name: string): Key => ({ pk: keys.subscription().pk, sk: `${domainPrefix}${name}` });

/**
 * The subscription as it was known at most `maxAgeSeconds` ago (default: an hour). When HIBP does not answer, an older
 * one is returned.
 * @throws UpstreamFailure when there is none, or the key is not accepted.
 */
export const current = async ({
  maxAgeSeconds = defaultMaxAgeSeconds,
  ...waiting
}: { maxAgeSeconds?: number } & Waiting = {}): Promise<Subscription> => {
  const known = await read();
  if (known !== undefined && ageSeconds(known) <= maxAgeSeconds) return known;
  return refreshOr(known, waiting);
};

/**
 * Those of these domains (lower case) that the subscription can search. Asks HIBP again when one is missing and what is
 * known is older than a minute.
 * @throws UpstreamFailure when nothing is known yet, or the key is not accepted.
 */
export const covered = async (domains: readonly string[], options: Waiting = {}): Promise<Set<string>> => {
  const found = await readDomains(domains);
  if (domains.every((domain) => found.has(domain))) return found;
  const known = await read();
  if (known !== undefined && ageSeconds(known) <= coverageMaxAgeSeconds) return found;
  const refreshed = await refreshOr(known, options);
  return refreshed === known ? found : readDomains(domains);
};

/** Asks HIBP (two calls) and stores its answers. Throws `UpstreamFailure`; what is stored then stays. */
export const refresh = async (options: Waiting = {}): Promise<Subscription> => {
  const deadline = Date.now() + (options.waitSeconds ?? defaultWaitSeconds) * 1_000;
  const waiting = () => ({ waitSeconds: Math.max(0, (deadline - Date.now()) / 1_000) });
  const at = new Date().toISOString();
  const knownRpm = (await read())?.rpm ?? cautiousRpm;
  const { rpm } = await withUpstream(knownRpm, subscriptionStatus, waiting());
  await storeDomains(await withUpstream(rpm, subscribedDomains, waiting()));
  await table.put({ ...keys.subscription(), rpm, at });
  return { rpm, at };
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

const readDomains = async (domains: readonly string[]): Promise<Set<string>> => {
  const rows = await table.getMany(domains.map(domainKey));
  return new Set(domains.filter((_, index) => rows[index] !== undefined));
};

/** Writes only what differs. Two at once can leave the older answer in part; the next refresh mends that. */
const storeDomains = async (domains: readonly string[]): Promise<void> => {
  const wanted = new Set(domains);
  const rows = await table.query<Key>({ pk: keys.subscription().pk, prefix: domainPrefix, project: ["sk"] });
  const stored = new Set(rows.map(({ sk }) => sk.slice(domainPrefix.length)));
  const writes = [
    ...[...wanted].filter((name) => !stored.has(name)).map((name) => ({ put: domainKey(name) })),
    ...[...stored].filter((name) => !wanted.has(name)).map((name) => ({ delete: domainKey(name) })),
  ];
  for (const part of parts(writes, table.maxTransactionWrites)) await table.transact(part);
};
