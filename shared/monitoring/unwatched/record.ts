/**
 * Breached addresses of a domain that nobody watches. They are packed into at most 256 rows of their domain, its buckets, since a row
 * for each of 100,000 addresses would cost fifty times as much to write. An address and its sub-addresses share a bucket. A row of
 * its own counts those of a domain, in the transactions that change them.
 */
import { createHash } from "node:crypto";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { absent, condition, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";

/**
 * "open": nobody watches it. "ignored": somebody has said so, and only what is needed to ignore it is kept. "sub": it is like
 * `ada+shop@`, and `ada@` is watched. "erased": its owner asked to be forgotten, so answers about it are not kept.
 */
export type State = "open" | "ignored" | "sub" | "erased";

export type Entry = {
  /** The part in front of the @; of erased ones its hash. */
  alias: string;
  /** Its number in the bucket, which is never used again. */
  number: number;
  state: State;
  /** What HIBP says of it. Absent while it is ignored, and after that until the next scan. */
  found?: Found | undefined;
};

/** `level`: the highest severity (hibp/severity.ts); `worst`: ids of up to five breaches, worst first. */
export type Found = { level: number; breachCount: number; worst: number[]; firstSeenAt: string };

/** `domain`: its name. `revision`: how often the row was written; 0: there is none. `next`: the number of the next new address. */
export type Bucket = {
  bucket: number;
  domain: string;
  revision: number;
  next: number;
  /** In the order of their numbers. */
  entries: Entry[];
};

/** `writes` grows with each change of a bucket. `asOf`: when HIBP was last asked with news, ISO 8601. */
export type Counts = {
  open: number;
  ignored: number;
  writes: number;
  asOf?: string;
};

type Row = Omit<Bucket, "bucket" | "entries"> & { packed: Uint8Array };

/** An id is made of its domain's id (23 bits), the bucket (8) and the number (22). */
const numbers = 2 ** 22;
const buckets = 256;

export const idOf = (domainId: number, bucket: number, number: number): number =>
  (domainId * buckets + bucket) * numbers + number;

/** The buckets that ids are of, each with the numbers of its ids. */
export const placesOf = (
  ids: readonly number[],
): { domainId: number; bucket: number; numbers: Set<number> }[] =>
  [...Map.groupBy(ids, (id) => Math.floor(id / numbers))].map(([place, some]) => ({
    domainId: Math.floor(place / buckets),
    bucket: place % buckets,
    numbers: new Set(some.map((id) => id % numbers)),
  }));

/** The alias without what follows a `+`: `ada` of `ada+shop`. */
export const baseOf = (alias: string): string => {
  const at = alias.indexOf("+");
  return at > 0 ? alias.slice(0, at) : alias;
};

export const bucketOf = (alias: string): number =>
  createHash("sha256").update(baseOf(alias)).digest()[0] as number;

/** What is kept of an alias that was erased. */
export const hashOf = (alias: string): string => createHash("sha256").update(alias).digest("base64url");

/** A bucket without a row. */
export const emptyBucket = (bucket: number, domain: string): Bucket => ({
  bucket,
  domain,
  revision: 0,
  next: 0,
  entries: [],
});

export const bucketIn = (row: Key & Partial<Row>): Bucket => {
  const { sk, domain, revision, next, packed } = row as Key & Row;
  const entries = JSON.parse(inflateRawSync(packed).toString());
  return { bucket: Number.parseInt(sk, 16), domain, revision, next, entries };
};

/** The buckets of a domain, or those whose two hexadecimal digits begin so. */
export const read = async (org: number, domainId: number, prefix?: string): Promise<Bucket[]> => {
  const { pk } = keys.unwatched(org, domainId, 0);
  return (await table.query<Key & Row>({ pk, ...(prefix !== undefined && { prefix }) })).map(bucketIn);
};

/** The counts of all domains that have such addresses. */
export const counts = async (org: number): Promise<(Counts & { domainId: number })[]> =>
  (await table.query<Key & Counts>({ pk: keys.unwatchedCounts(org, 0).pk })).map(({ pk: _, sk, ...row }) => ({
    ...row,
    domainId: Number(sk),
  }));

/** How many addresses of an organization are open. */
export const countOpen = async (org: number): Promise<number> =>
  (await counts(org)).reduce((sum, { open }) => sum + open, 0);

export const countIn = (entries: readonly Entry[], state: State): number =>
  entries.filter((entry) => entry.state === state).length;

/**
 * The writes that change buckets of a domain; they fail when a bucket has changed since it was read. `asOf`: when HIBP gave the answer that changes them (ISO 8601).
 */
export const writesOf = (
  org: number,
  domainId: number,
  changes: readonly { before: Bucket; after: Pick<Bucket, "next" | "entries"> }[],
  asOf?: string,
): Write[] => {
  const grown = (state: State): number =>
    changes.reduce(
      (sum, { before, after }) => sum + countIn(after.entries, state) - countIn(before.entries, state),
      0,
    );
  return [
    ...changes.map(({ before: { bucket, domain, revision }, after: { next, entries } }): Write => {
      const row: Row = {
        domain,
        revision: revision + 1,
        next,
        packed: deflateRawSync(JSON.stringify(entries)),
      };
      return {
        put: { ...keys.unwatched(org, domainId, bucket), ...row },
        if: revision === 0 ? absent : condition("#revision = :revision", { revision }),
      };
    }),
    {
      update: keys.unwatchedCounts(org, domainId),
      add: { open: grown("open"), ignored: grown("ignored"), writes: 1 },
      set: { asOf },
    },
  ];
};

/** Forgets an address with its sub-addresses, watched or not, so that no answer brings them back into the list. */
export const erase = (org: number, domainId: number, address: string): Promise<void> =>
  withOptimisticRetry(async () => {
    const at = address.lastIndexOf("@");
    const alias = address.slice(0, at).toLowerCase();
    const bucket = bucketOf(alias);
    const row = await table.get<Key>(keys.unwatched(org, domainId, bucket));
    const before = row ? bucketIn(row) : emptyBucket(bucket, address.slice(at + 1).toLowerCase());
    if (before.entries.some((entry) => entry.alias === hashOf(alias))) return;
    const others = before.entries.filter((entry) => entry.alias !== alias && baseOf(entry.alias) !== alias);
    const entries: Entry[] = [...others, { alias: hashOf(alias), number: before.next, state: "erased" }];
    await table.transact(writesOf(org, domainId, [{ before, after: { next: before.next + 1, entries } }]));
  });

/** Removes all of a domain, once no planner can add any. */
export const removeAll = async (org: number, domainId: number): Promise<void> => {
  const { pk } = keys.unwatched(org, domainId, 0);
  for (const row of await table.query<Key>({ pk, project: ["pk", "sk"] })) await table.remove(row);
  await table.remove(keys.unwatchedCounts(org, domainId));
};
