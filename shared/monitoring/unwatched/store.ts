/**
 * Unwatched addresses are two compressed documents of each domain: HIBP's answer, and people's decisions.
 * Both are cut into parts that fit into a row. The root row names the version of both. It is replaced last,
 * so that no reader sees a mix.
 */
import { createHash, randomUUID } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { chunk } from "../../aws/table/chunk.ts";
import { absent, asRead, type Condition, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import { whilePassing } from "../../aws/table/patience.ts";
import * as table from "../../aws/table/table.ts";
import { type Breached, type Ignored, type Kept, type Sums, sumsOf } from "./record.ts";

/** DynamoDB limits a row to 400 KB. */
const partBytes = 350_000;

/** Parts that are deleted at the same time. */
const concurrency = 8;

/** Undefined: it would be empty. */
type Document = { version: string; parts: number } | undefined;

/** `hash`: of the answer. How many addresses are in each breach has a row of its own, since scans read all roots. */
export type Root = Omit<Sums, "byBreach"> & {
  domainId: number;
  hash: string;
  answer?: Document;
  decisions?: Document;
};

/** What is kept of a domain as it was read. `parts`: the keys of all, also of those that a dying writer left behind. */
type Stored = { domainId: number; root: Root | undefined; kept: Kept; parts: readonly Key[] };

type Part = Key & { bytes: Uint8Array };

/**
 * An address in a document: alias, breach ids, and places of times: `firstSeenAt`, `lastNewAt` if it differs or
 * the address has what follows, 1 if that was severe, and `ignoredAt`.
 */
type JsonAddress = [string, readonly number[], number, number?, (0 | 1)?, number?];

type Json = { times: string[]; addresses: JsonAddress[] } & Partial<Pick<Kept, "watched" | "left">>;

const none: Kept = { breached: [], ignored: [], watched: [], left: [] };

/** The roots of all domains of an organization. */
export const roots = (org: number): Promise<Root[]> => table.query({ pk: keys.unwatched(org, 0).pk });

/** How many addresses of an organization are neither watched nor ignored. */
export const countOpen = async (org: number): Promise<number> =>
  (await roots(org)).reduce((sum, { open }) => sum + open, 0);

/** The latest severe news of such an address (ISO 8601). */
export const severeAt = (all: readonly Root[]): string | undefined =>
  all
    .flatMap((root) => root.severeAt ?? [])
    .sort()
    .at(-1);

/** How many such addresses are in each breach. About a read unit for 400 breaches of a domain, or twice as many. */
export const countByBreach = async (
  org: number,
  options: { consistent?: boolean } = {},
): Promise<Map<number, number>> => {
  const counts = new Map<number, number>();
  const rows = await table.query<Counts>({ pk: keys.unwatchedCounts(org, 0).pk, ...options });
  for (const { byBreach } of rows)
    for (const [id, count] of Object.entries(byBreach))
      counts.set(Number(id), (counts.get(Number(id)) ?? 0) + count);
  return counts;
};

/** The row of these counts. */
export type Counts = Pick<Sums, "byBreach"> & { domainId: number };

/** The document was replaced after its root was read. */
class Replaced extends Error {}

/** All of a domain. `known`: its root, as the caller has read it. */
export const read = (org: number, domainId: number, known?: Root): Promise<Stored> => {
  let root = known;
  return whilePassing(
    async () => {
      root ??= await table.get<Root>(keys.unwatched(org, domainId));
      const rows = await table.query<Part>({ pk: keys.unwatchedPart(org, domainId, "", 0).pk });
      const parts = rows.map(({ pk, sk }) => ({ pk, sk }));
      if (root === undefined) return { domainId, root, kept: none, parts };
      const asOfRoot = root;
      root = undefined;
      const answer = await documentIn(rows, asOfRoot.answer);
      const decisions = await documentIn(rows, asOfRoot.decisions);
      const kept = {
        breached: addressesIn(answer),
        ignored: ignoredIn(decisions),
        watched: decisions.watched ?? [],
        left: answer.left ?? [],
      };
      return { domainId, root: asOfRoot, kept, parts };
    },
    (error) => error instanceof Replaced,
  );
};

/**
 * Replaces the stored addresses of a domain, in one transaction with `also`. Throws `TransactionRefused` if
 * they were replaced since they were read, or if the `guard` of another row does not hold. It then writes no
 * part, so that a removed domain leaves nothing.
 */
export const write = async (
  org: number,
  { domainId, root, kept, parts }: Stored,
  next: Kept,
  { guard, also = [] }: { guard?: { check: Key; if: Condition }; also?: Write[] } = {},
): Promise<void> => {
  const key = keys.unwatched(org, domainId);
  const isAsRead = root === undefined ? absent : asRead({ answer: root.answer, decisions: root.decisions });
  const written: Part[] = [];
  const keep = async (json: Json): Promise<Document> => {
    if ([json.addresses, json.watched ?? [], json.left ?? []].every(({ length }) => length === 0))
      return undefined;
    const version = randomUUID();
    const all = await encode(json);
    for (const [part, bytes] of all.entries()) {
      const put: Part = { ...keys.unwatchedPart(org, domainId, version, part), bytes };
      written.push(put);
      await table.transact([{ put }, { check: key, if: isAsRead }, ...(guard ? [guard] : [])]);
    }
    return { version, parts: all.length };
  };
  const isSameAnswer = root !== undefined && next.breached === kept.breached;
  const isSameDecisions = next.ignored === kept.ignored && next.watched === kept.watched;
  try {
    const answer = isSameAnswer ? root.answer : await keep({ ...jsonOf(next.breached), left: next.left });
    const decisions = isSameDecisions
      ? root?.decisions
      : await keep({ ...jsonOf(next.ignored), watched: next.watched });
    const { byBreach, ...sums } = sumsOf(next);
    const hash = isSameAnswer ? root.hash : hashOf(next.breached);
    const changed: Root = { domainId, hash, ...sums, answer, decisions };
    const counts: Counts = { domainId, byBreach };
    await table.transact([
      { put: { ...key, ...changed }, if: isAsRead },
      { put: { ...keys.unwatchedCounts(org, domainId), ...counts } },
      ...also,
    ]);
    const isOver = ({ sk }: Key): boolean =>
      ![answer, decisions].some((each) => each !== undefined && sk.startsWith(each.version));
    // What stays is deleted by whoever writes next.
    await removeParts(parts.filter(isOver)).catch(() => {});
  } catch (error) {
    if (error instanceof table.TransactionRefused) await removeParts(written);
    throw error;
  }
};

/** Deletes all of a domain, once no planner can add any. The root goes first, so that nobody else can. */
export const removeAll = async (org: number, domainId: number): Promise<void> => {
  await table.remove(keys.unwatched(org, domainId));
  await table.remove(keys.unwatchedCounts(org, domainId));
  await removeParts(await partsOf(org, domainId));
};

const partsOf = (org: number, domainId: number): Promise<Key[]> =>
  table.query<Key>({ pk: keys.unwatchedPart(org, domainId, "", 0).pk, project: ["pk", "sk"] });

const removeParts = async (parts: readonly Key[]): Promise<void> => {
  for (const some of chunk(parts, concurrency)) await Promise.all(some.map((key) => table.remove(key)));
};

/** Of what HIBP answered, whenever each address was first seen. */
export const hashOf = (breached: readonly Pick<Breached, "alias" | "breachIds">[]): string => {
  const lines = breached.map(({ alias, breachIds }) => `${alias} ${breachIds.join()}`);
  return createHash("sha256").update(lines.join("\n")).digest("base64url");
};

const jsonOf = (addresses: readonly (Breached & Partial<Ignored>)[]): Json => {
  const places = new Map<string, number>();
  const placeOf = (at: string): number => {
    const place = places.get(at) ?? places.size;
    places.set(at, place);
    return place;
  };
  const written = addresses.map((each): JsonAddress => {
    const { alias, breachIds, firstSeenAt, lastNewAt, isSevere, ignoredAt } = each;
    const first = placeOf(firstSeenAt);
    if (lastNewAt === firstSeenAt && !isSevere && ignoredAt === undefined) return [alias, breachIds, first];
    const written: JsonAddress = [alias, breachIds, first, placeOf(lastNewAt), isSevere ? 1 : 0];
    if (ignoredAt !== undefined) written.push(placeOf(ignoredAt));
    return written;
  });
  return { times: [...places.keys()], addresses: written };
};

const addressesIn = ({ times, addresses }: Json): Breached[] =>
  addresses.map(([alias, breachIds, first, last = first, severe]) => ({
    alias,
    breachIds,
    firstSeenAt: times[first] ?? "",
    lastNewAt: times[last] ?? "",
    isSevere: severe === 1,
  }));

const ignoredIn = (json: Json): Ignored[] =>
  addressesIn(json).map((each, index) => ({
    ...each,
    ignoredAt: json.times[json.addresses[index]?.[5] ?? 0] ?? "",
  }));

const encode = async (json: Json): Promise<Uint8Array[]> => {
  const bytes = await promisify(gzip)(JSON.stringify(json));
  return Array.from({ length: Math.ceil(bytes.length / partBytes) }, (_, part) =>
    bytes.subarray(part * partBytes, (part + 1) * partBytes),
  );
};

/** Throws `Replaced` if one of its parts is not among the rows. */
const documentIn = async (rows: readonly Part[], document: Document): Promise<Json> => {
  if (document === undefined) return jsonOf([]);
  const parts = rows.filter(({ sk }) => sk.startsWith(document.version));
  if (parts.length < document.parts) throw new Replaced();
  const inOrder = parts.toSorted((one, other) => partOf(one) - partOf(other));
  const bytes = await promisify(gunzip)(Buffer.concat(inOrder.map((part) => part.bytes)));
  return JSON.parse(bytes.toString()) as Json;
};

const partOf = ({ sk }: Key): number => Number(sk.split("#")[1]);
