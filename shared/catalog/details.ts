/**
 * What findings show of breaches. A page of findings names dozens, which are most of what it would read and rarely change, so
 * an instance keeps the details that it has read for as long as the catalog has the version that they were read at.
 */
import { type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { Breach } from "./schema.ts";

/** The row of the catalog's state, which syncs write. */
export type State = {
  digest?: string;
  /** Of the sync that may write; a later one takes it over, and the earlier one's writes then fail. */
  token?: string;
  /** The last sync that has written all it had to, and when; ISO 8601. */
  recorded?: { token: string; at: string };
};

export const stateKey = keys.breachNames;

/** Details are read eventually consistent: a second or so after a sync they can still be those before it. */
const settledMilliseconds = 60_000;
/** HIBP lists about a thousand, mostly of 1 KB; one can have 57 KB in memory. */
const maxKept = 1_500;

let kept: { version: string; breaches: Map<number, Breach> } | undefined;

const keptAt = (version: string): Map<number, Breach> => {
  if (kept?.version !== version) kept = { version, breaches: new Map() };
  return kept.breaches;
};

/** The catalog's version, for `details`; undefined while a sync writes details, and shortly after it. */
export const version = async (): Promise<string | undefined> => {
  // An older version does no harm: what is kept for it is what was, or newer.
  const { token, recorded } = (await table.get<State>(stateKey(), { consistent: false })) ?? {};
  const settledBefore = new Date(Date.now() - settledMilliseconds).toISOString();
  return recorded !== undefined && recorded.token === token && recorded.at < settledBefore
    ? token
    : undefined;
};

/**
 * id → details; unknown ids are left out. At most a second or so behind the last sync. With `readAt`, what `version` gave in the
 * same request, only what this instance has not read at that version yet is read.
 */
export const details = async (breachIds: Iterable<number>, readAt?: string): Promise<Map<number, Breach>> => {
  const known = readAt === undefined ? new Map<number, Breach>() : keptAt(readAt);
  const found = new Map<number, Breach>();
  const wanted = [...new Set(breachIds)];
  for (const id of wanted) {
    const breach = known.get(id);
    if (breach !== undefined) found.set(id, breach);
  }
  const readMissing = async (consistent: boolean): Promise<void> => {
    const missing = wanted.filter((id) => !found.has(id));
    const rows = await table.getMany<Breach & Key>(missing.map(keys.breach), { consistent });
    for (const row of rows) {
      if (row === undefined) continue;
      const { pk: _, sk: __, ...breach } = row;
      found.set(breach.id, breach);
      if (known.size >= maxKept && !known.has(breach.id)) known.clear();
      known.set(breach.id, breach);
    }
  };
  await readMissing(false);
  // A breach that was minted a moment ago may only be there for a strong read.
  await readMissing(true);
  return found;
};
