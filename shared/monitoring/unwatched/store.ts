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
import { type Breached, type Kept, listedIn } from "./record.ts";

/** DynamoDB limits a row to 400 KB. */
const partBytes = 350_000;

/** Parts that are deleted at the same time. */
const concurrency = 8;

/** Undefined: it would be empty. */
type Document = { version: string; parts: number } | undefined;

/** `hash`: of the answer. `open`: how many addresses are not ignored; `watched`: how many were since the answer. */
export type Root = {
  domainId: number;
  hash: string;
  open: number;
  watched: number;
  answer?: Document;
  decisions?: Document;
};

/** What is kept of a domain as it was read. `parts`: the keys of all, also of those that a dying writer left behind. */
type Stored = { domainId: number; root: Root | undefined; kept: Kept; parts: readonly Key[] };

type Part = Key & { bytes: Uint8Array };

/** A document as JSON. `times`: those of `firstSeenAt`. An address: alias, breach ids, and the place of its time. */
type Json = { times: string[]; addresses: [string, readonly number[], number][] } & Partial<
  Pick<Kept, "watched" | "left">
>;

const none: Kept = { breached: [], ignored: [], watched: [], left: [] };

/** The roots of all domains of an organization. */
export const roots = (org: number): Promise<Root[]> => table.query({ pk: keys.unwatched(org, 0).pk });

/** How many addresses of an organization are neither watched nor ignored. */
export const countOpen = async (org: number): Promise<number> =>
  (await roots(org)).reduce((sum, { open }) => sum + open, 0);

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
        ignored: addressesIn(decisions),
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
    const changed: Root = {
      domainId,
      hash: isSameAnswer ? root.hash : hashOf(next.breached),
      open: listedIn(next).filter(({ ignored }) => !ignored).length,
      watched: next.watched.length,
      answer,
      decisions,
    };
    await table.transact([{ put: { ...key, ...changed }, if: isAsRead }, ...also]);
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

const jsonOf = (addresses: readonly Breached[]): Json => {
  const times = [...new Set(addresses.map(({ firstSeenAt }) => firstSeenAt))];
  const places = new Map(times.map((at, place) => [at, place]));
  return {
    times,
    addresses: addresses.map(({ alias, breachIds, firstSeenAt }) => [
      alias,
      breachIds,
      places.get(firstSeenAt) ?? 0,
    ]),
  };
};

const addressesIn = ({ times, addresses }: Json): Breached[] =>
  addresses.map(([alias, breachIds, place]) => ({ alias, breachIds, firstSeenAt: times[place] ?? "" }));

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
