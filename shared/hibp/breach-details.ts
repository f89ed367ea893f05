/**
 * The details that findings show of breaches. They would be most of what a page of findings reads, and rarely
 * change: so each instance of a function caches them until the catalog has another version.
 */
import { type Key, keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { Breach } from "./breach.ts";
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

type Cache = { version?: string; breaches: Map<number, Breach>; names?: Map<string, NameRow> };
let cache: Cache = { breaches: new Map() };

const cacheOf = (version: string | undefined): Cache => {
  if (version === undefined) return { breaches: new Map() };
  if (cache.version !== version) cache = { version, breaches: new Map() };
  return cache;
};

/** Whether everything is written that the last sync had to write. Strongly consistent. */
export const isRecorded = async (): Promise<boolean> => {
  const { token, recorded } = (await table.get<State>(stateKey())) ?? {};
  return recorded?.token === token;
};

/** The catalog's version, for `details`. Undefined while a sync writes and for a minute after it. */
export const version = async ({ consistent = false } = {}): Promise<string | undefined> => {
  // An older version does no harm, because its cache holds details that are at least as new.
  const { token, recorded } = (await table.get<State>(stateKey(), { consistent })) ?? {};
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
  const known = cacheOf(catalogVersion).breaches;
  const details = new Map<number, Breach>();
  const wanted = [...new Set(breachIds)];
  for (const id of wanted) {
    const breach = known.get(id);
    if (breach !== undefined) details.set(id, breach);
  }
  const readMissing = async (consistent: boolean): Promise<void> => {
    const missing = wanted.filter((id) => !details.has(id));
    const rows = await table.getMany<Breach & Key>(missing.map(keys.breach), { consistent });
    for (const row of rows) {
      if (row === undefined) continue;
      const { pk: _, sk: __, ...breach } = row;
      details.set(breach.id, breach);
      if (known.size >= maxCached && !known.has(breach.id)) known.clear();
      known.set(breach.id, breach);
    }
  };
  await readMissing(false);
  // Only a strongly consistent read surely finds a breach that got its id a moment ago.
  await readMissing(true);
  return details;
};

/**
 * The row of a name. `level`: of its severity; `hash`, of everything that HIBP lists about the breach, is
 * missing until a sync has announced it.
 */
export type NameRow = {
  id: number;
  title: string;
  domain: string;
  level: number;
  breachDate: string;
  hash?: string;
};

/** By name. 25 read units for a thousand breaches, half of them where it need not be `consistent`. */
export const readNames = async (options: { consistent?: boolean } = {}): Promise<Map<string, NameRow>> => {
  const { pk, sk: prefix } = keys.breachName("");
  const rows = await table.query<NameRow & Key>({ pk, prefix, ...options });
  return new Map(rows.map((row) => [row.sk.slice(prefix.length), row]));
};

/** The same, from this instance's cache as long as the catalog has this version. */
export const names = async (catalogVersion: string | undefined): Promise<Map<string, NameRow>> => {
  const known = cacheOf(catalogVersion);
  known.names ??= await readNames({ consistent: false });
  return known.names;
};

/**
 * id → details, without the ids that are unknown. Strongly consistent, because the state of findings follows from
 * them.
 */
export const current = async (breachIds: Iterable<number>): Promise<Map<number, Breach>> => {
  const ids = [...new Set(breachIds)];
  if (ids.length === 0) return new Map();
  const settled = await version({ consistent: true });
  if (settled !== undefined) return details(ids, settled);
  const rows = await table.getMany<Breach>(ids.map(keys.breach));
  return new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.id, row]])));
};

/** The severity of a breach as a level, and whether HIBP says that it is sensitive. */
export type Grade = { level: number; isSensitive: boolean };

/**
 * id → grade, without ids that are unknown. Strongly consistent, because findings are written with these
 * severities.
 */
export const grades = async (breachIds: Iterable<number>): Promise<Map<number, Grade>> =>
  new Map([...(await current(breachIds))].map(([id, breach]) => [id, gradeOf(breach)]));

export const gradeOf = ({ severity, isSensitive }: Breach): Grade => ({
  level: levelOf(severity),
  isSensitive,
});
