/**
 * The catalog of breaches. HIBP's name of a breach is its permanent key; our integer id is minted from it, once.
 *
 * One row for each name holds its id and the hash of what HIBP says of it; one row for each id holds the
 * details (details.ts). A state row holds the digest of the whole list, so that a sync without news reads one row. A breach that
 * vanishes from HIBP's list keeps its last details.
 */
import { createHash, randomUUID } from "node:crypto";
import { drawId } from "../table/blocks.ts";
import { absent, condition, type Write } from "../table/condition.ts";
import { type Key, keys } from "../table/keys.ts";
import { parts } from "../table/parts.ts";
import * as table from "../table/table.ts";
import { type State, stateKey } from "./details.ts";
import { breaches, UpstreamFailure } from "./hibp.ts";
import { type BreachDetails, unknownDate } from "./schema.ts";
import * as subscription from "./subscription.ts";
import { withUpstream } from "./upstream.ts";

/** Ids of breaches. `isBaseline`: the catalog was never synced completely before. */
export type News = { added: number[]; changed: number[]; isBaseline: boolean };

/** `hash` is missing until a sync has announced the breach. */
type NameRow = { id: number; hash?: string };

type Listed = ReadonlyMap<string, { details: BreachDetails; hash: string }>;

const namePrefix = "NAME#";
const nameKey = (name: string): Key => ({ pk: keys.breachNames().pk, sk: `${namePrefix}${name}` });

/** Of large breaches (85 KB) that many fit a transaction (4 MB). */
const breachesPerTransaction = 24;
const defaultWaitSeconds = 60;

/**
 * Brings the catalog up to HIBP's list. `announce` is called with what is new before that is recorded as known, so a
 * crash can repeat an announcement but never lose one; it is not called when nothing is new.
 * @throws UpstreamFailure; the catalog then stays as it is.
 */
export const sync = async (
  announce: (news: News) => Promise<void> = async () => {},
  { waitSeconds = defaultWaitSeconds }: subscription.Waiting = {},
): Promise<News> => {
  const listed = await fetchList({ waitSeconds });
  const digest = digestOf(listed);
  const state = await table.get<State>(stateKey());
  const news: News = { added: [], changed: [], isBaseline: state?.digest === undefined };
  // A sync that broke off may have written details that this list does not have.
  if (state?.digest === digest && state.recorded?.token === state.token) return news;

  const token = randomUUID();
  await table.update(stateKey(), { set: { token } });
  const rows = await readNames();
  const unknown = [...listed].filter(([name]) => !rows.has(name));
  for (const [name, id] of await mint(unknown.map(([, { details }]) => details))) rows.set(name, { id });

  const outdated: { id: number; hash: string; details: BreachDetails }[] = [];
  for (const [name, { details, hash }] of listed) {
    const row = rows.get(name);
    if (row === undefined || row.hash === hash) continue;
    (row.hash === undefined ? news.added : news.changed).push(row.id);
    outdated.push({ id: row.id, hash, details });
  }
  if (outdated.length > 0) await announce(news);
  try {
    await record(outdated, token);
    await table.update(stateKey(), {
      set: { digest, recorded: { token, at: new Date().toISOString() } },
      if: condition("#token = :token", { token }),
    });
  } catch (error) {
    // Another sync has taken over; it finds what is not recorded yet and announces it again.
    if (!(error instanceof table.TransactionRefused || error instanceof table.ConditionFailed)) throw error;
  }
  return news;
};

/** name → id of every breach that is known. */
export const ids = async (): Promise<Map<string, number>> => {
  const found = new Map([...(await readNames())].map(([name, { id }]) => [name, id]));
  for (const [name, id] of found) knownIds.set(name, id);
  return found;
};

/**
 * name → id of all these names. A name that is new gets its id here, with HIBP's details if HIBP gives them now, else
 * with its name as the title until the next sync. Either way it stays news for the next sync. `callSeconds`: how long HIBP's
 * answer may take then; 60 unless told.
 */
export const idsFor = async (
  names: Iterable<string>,
  { waitSeconds = defaultWaitSeconds, callSeconds }: subscription.Waiting & { callSeconds?: number } = {},
): Promise<Map<string, number>> => {
  const wanted = [...new Set(names)];
  if (wanted.some((name) => !knownIds.has(name))) await ids();
  const unknown = wanted.filter((name) => !knownIds.has(name));
  if (unknown.length > 0) {
    const listed = await fetchList({ waitSeconds, callSeconds }).catch((error: unknown): Listed => {
      if (error instanceof UpstreamFailure) return new Map();
      throw error;
    });
    const minted = await mint(unknown.map((name) => listed.get(name)?.details ?? bareDetails(name)));
    for (const [name, id] of minted) knownIds.set(name, id);
  }
  return new Map(wanted.map((name) => [name, knownIds.get(name) as number]));
};

/** What this process has learned. It can't become wrong: an id is permanent. */
const knownIds = new Map<string, number>();

const fetchList = async ({
  waitSeconds,
  callSeconds,
}: {
  waitSeconds: number;
  callSeconds?: number | undefined;
}): Promise<Listed> => {
  // However old: syncs and planners refresh it, and its two calls would come on top of this one.
  const { rpm } = await subscription.current({ waitSeconds, maxAgeSeconds: Number.POSITIVE_INFINITY });
  const list = await withUpstream(rpm, () => breaches(callSeconds), { waitSeconds });
  return new Map(
    list.map((breach) => {
      const { addedDate: _, modifiedDate: _m, isSensitive: _s, isRetired: _r, ...details } = breach;
      return [details.name, { details, hash: hashOf(JSON.stringify(breach)) }];
    }),
  );
};

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 16);

/** Does not depend on the order of the list. */
const digestOf = (listed: Listed): string =>
  hashOf(JSON.stringify([...listed].map(([name, { hash }]) => [name, hash]).sort()));

const readNames = async (): Promise<Map<string, NameRow>> => {
  const rows = await table.query<NameRow & Key>({ pk: keys.breachNames().pk, prefix: namePrefix });
  return new Map(rows.map((row) => [row.sk.slice(namePrefix.length), row]));
};

/** name → id of all these breaches. Who comes second gets the first one's id, and its own goes unused. */
const mint = async (list: readonly BreachDetails[]): Promise<Map<string, number>> => {
  const minted = new Map<string, number>();
  for (const part of parts(list, breachesPerTransaction)) {
    let open = part;
    while (open.length > 0) {
      const drawn = await Promise.all(open.map(() => drawId("BREACH")));
      const breaches = open.map((details, index) => ({ ...details, id: drawn[index] as number }));
      const writes = breaches.flatMap((breach): Write[] => [
        { put: { ...nameKey(breach.name), id: breach.id }, if: absent },
        { put: { ...keys.breach(breach.id), ...breach } },
      ]);
      try {
        await table.transact(writes);
        for (const { name, id } of breaches) minted.set(name, id);
        break;
      } catch (error) {
        if (!(error instanceof table.TransactionRefused)) throw error;
        for (const { index, item } of error.failed) {
          const breach = breaches[index / 2];
          if (breach !== undefined && item !== undefined) minted.set(breach.name, (item as NameRow).id);
        }
        const left = open.filter(({ name }) => !minted.has(name));
        if (left.length === open.length) throw error;
        open = left;
      }
    }
  }
  return minted;
};

/** Details and their hash together, as long as no later sync has begun. Throws `TransactionRefused` then. */
const record = async (
  outdated: readonly { id: number; hash: string; details: BreachDetails }[],
  token: string,
): Promise<void> => {
  for (const part of parts(outdated, breachesPerTransaction)) {
    await table.transact([
      { check: stateKey(), if: condition("#token = :token", { token }) },
      ...part.flatMap(({ id, hash, details }): Write[] => [
        { put: { ...keys.breach(id), ...details, id } },
        { update: nameKey(details.name), set: { hash } },
      ]),
    ]);
  }
};

const bareDetails = (name: string): BreachDetails => ({
  name,
  title: name,
  domain: "",
  breachDate: unknownDate,
  dataClasses: [],
  pwnCount: 0,
  description: "",
});
