/**
 * The details that findings show of breaches. They would be most of what a page of findings reads, and rarely
 * change: so each instance of a function caches them until the catalog has another version.
 */
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { type Breach, breachOf } from "./breach.ts";
import { levelOf } from "./severity.ts";

/** The row of the catalog's state, which syncs write. */
export type State = {
  digest?: string;
  /**
   * The fencing token of the sync that may write. A later sync sets its own, and writes of the earlier one
   * then fail.
   */
  token?: string;
  /** The last sync that has written everything, and when (ISO 8601). */
  recorded?: { token: string; at: string };
  /** When a sync last asked for the whole list (ISO 8601), and which breach was HIBP's latest. */
  asked?: { at: string; latest?: string };
};

export const stateKey = keys.breachNames;

/** Details are read eventually consistent: up to about a second after a sync, reads can miss it. */
const settledMilliseconds = 60_000;
/** HIBP lists about a thousand breaches. Most take 1 KB of memory, one can take 57 KB. */
const maxCached = 1_500;

let cache: { version: string; breaches: Map<number, Breach> } | undefined;

const cacheOf = (version: string): Map<number, Breach> => {
  if (cache?.version !== version) cache = { version, breaches: new Map() };
  return cache.breaches;
};

/** Whether everything is written that the last sync had to write. Strongly consistent. */
export const isRecorded = async (): Promise<boolean> => (await recordedToken()) !== undefined;

/** Changes with every breach that a sync writes; undefined while one writes. Strongly consistent. */
export const recordedToken = async (): Promise<string | undefined> => {
  const { token, recorded } = (await table.get<State>(stateKey())) ?? {};
  return recorded?.token === token ? (token ?? "none") : undefined;
};

/** The catalog's version, for `details`. Undefined while a sync writes and for a minute after it. */
export const version = async (): Promise<string | undefined> => {
  // An older version does no harm: its cache holds details of then or newer ones.
  const { token, recorded } = (await table.get<State>(stateKey(), { consistent: false })) ?? {};
  const settledBefore = new Date(Date.now() - settledMilliseconds).toISOString();
  return recorded !== undefined && recorded.token === token && recorded.at < settledBefore
    ? token
    : undefined;
};

/**
 * id → details, without the ids that are unknown. At most about a second behind the last sync. With
 * `catalogVersion`, which `version` must have returned during the same request, reads only what this instance
 * has not cached.
 */
export const details = async (
  breachIds: Iterable<number>,
  catalogVersion?: string,
): Promise<Map<number, Breach>> => {
  const known = catalogVersion === undefined ? new Map<number, Breach>() : cacheOf(catalogVersion);
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
      const { pk: _, sk: __, ...stored } = row;
      // Earlier releases stored fewer fields, until the next sync.
      const breach = breachOf(stored);
      found.set(breach.id, breach);
      if (known.size >= maxCached && !known.has(breach.id)) known.clear();
      known.set(breach.id, breach);
    }
  };
  await readMissing(false);
  // Only a strongly consistent read surely finds a breach that got its id a moment ago.
  await readMissing(true);
  return found;
};

/** id → severity as a level, without ids that are unknown. Strongly consistent, so that what is written by it is not behind a sync. */
export const levels = async (breachIds: Iterable<number>): Promise<Map<number, number>> => {
  const rows = await table.getMany<Breach & Key>([...new Set(breachIds)].map(keys.breach));
  return new Map(
    rows
      .filter((row) => row !== undefined)
      .map((row): [number, number] => [row.id, levelOf(breachOf(row).severity)]),
  );
};
