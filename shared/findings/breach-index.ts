/**
 * Which findings there are of a breach: their ids by group key, in segments of a few thousand. Transactions write notes
 * (breach-notes.ts), since a transaction is about many breaches; the index takes them over at the end of a scan. Readers read the notes
 * first and the segments after them, so that what is taken over in between is seen twice and never missed.
 */
import { chunk } from "../aws/table/chunk.ts";
import { absent, condition, type Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { Facts } from "./breach-notes.ts";
import * as notes from "./breach-notes.ts";
import { decodeIds, encodeIds } from "./id-list.ts";
import { type FindingGroup, findings } from "./record.ts";

/** Findings in a segment; a full one takes no further ones. A segment takes about 8 KB. */
const segmentSize = 4096;

/** Notes of fewer bytes wait: a reader reads them with 16 read units, and taking them over costs a write for each breach. */
const worthTakingOver = 65_536;

/** Rows of notes that are taken over together: 65,536 findings at most. A block has fewer. */
const rowsAtOnce = 128;

/** Requests at the same time. */
const concurrency = 16;

/** `number`: of the last take-over that wrote it; 0: it is not written yet. `from`, `to`: the lowest and the highest id. */
type Segment = {
  index: number;
  number: number;
  count: number;
  from: number;
  to: number;
  ids: Record<string, Uint8Array>;
};

const acknowledgedKey = (groupKey: string): string =>
  findings.groupKeyOf({ ...findings.groupOf({ group: groupKey }), acknowledged: true });

const readSegments = async (org: number, breachId: number): Promise<Segment[]> => {
  const rows = await table.query<Omit<Segment, "index"> & { sk: string }>({
    pk: keys.breachSegment(org, breachId, 0).pk,
  });
  return rows.map(({ sk, ...row }) => ({ ...row, index: Number(sk) }));
};

/** What is known of a breach's findings: ids to group keys in no order. An id can come twice. */
const entriesOf = async (
  org: number,
  breachId: number,
  noted?: ReadonlyMap<number, Facts>,
): Promise<{ facts: Facts | undefined; segments: Segment[] }> => {
  const facts = (noted ?? notes.factsOf(await notes.read(org))).get(breachId);
  return { facts, segments: await readSegments(org, breachId) };
};

/**
 * Ids of the findings of a breach that match, newest first. Costs the read units of the notes and of the breach's segments: about
 * two bytes for each of its findings.
 */
export const idsOf = async (
  org: number,
  breachId: number,
  matches: (group: FindingGroup) => boolean,
): Promise<number[]> => {
  const { facts, segments } = await entriesOf(org, breachId);
  const found: number[] = [];
  const collect = (groupKey: string, ids: () => Iterable<number>): void => {
    const group = findings.groupOf({ group: groupKey });
    const isWanted = matches(group);
    const isWantedLater = matches({ ...group, acknowledged: true });
    if (!isWanted && !isWantedLater) return;
    for (const id of ids()) {
      if (facts?.removed.has(id)) continue;
      if (facts?.acknowledged.has(id) ? isWantedLater : isWanted) found.push(id);
    }
  };
  for (const { ids } of segments) {
    for (const [groupKey, bytes] of Object.entries(ids)) collect(groupKey, () => decodeIds(bytes));
  }
  for (const [id, groupKey] of facts?.added ?? []) collect(groupKey, () => [id]);
  const ascending = Float64Array.from(found).sort();
  return [...ascending.filter((id, place) => place === 0 || id !== ascending[place - 1])].reverse();
};

/**
 * Applies notes to the index while `mayGoOn` and it is worth it (or `always`). It may die between any two lines, and several workers may
 * run it at once: a worker that finds a segment with a higher sequence number than its own has outdated notes and stops
 * (docs/decisions/0031-counts-and-breach-index.md).
 */
export const takeOver = async (
  org: number,
  mayGoOn: () => boolean = () => true,
  { always = false }: { always?: boolean } = {},
): Promise<void> => {
  while (mayGoOn()) {
    const before = (await table.get<{ number: number }>(keys.noteTakeOvers(org)))?.number ?? 0;
    const read = await notes.read(org, { limit: rowsAtOnce });
    const isFull = read.length === rowsAtOnce;
    // What is said of one finding can stand in several rows of its block, which belong together: the last block may be cut off.
    const rows = isFull ? read.filter(({ block }) => block !== read.at(-1)?.block) : read;
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    const isWorth = always || isFull || bytes >= worthTakingOver;
    if (rows.length === 0 || !isWorth || !(await takeNumber(org, before))) return;
    for (const part of chunk([...notes.factsOf(rows)], concurrency)) {
      if (!mayGoOn()) return;
      const written = await Promise.all(
        part.map(([breachId, facts]) => takeOverBreach(org, before + 1, breachId, facts)),
      );
      if (written.includes(false)) return;
    }
    let forgotten = 0;
    for (const part of chunk([...Map.groupBy(rows, ({ block }) => block).values()], concurrency)) {
      const gone = await Promise.all(part.map((ofBlock) => notes.forget(org, ofBlock)));
      forgotten += gone.filter((isGone) => isGone).length;
    }
    if (forgotten === 0) return;
  }
};

const takeNumber = async (org: number, before: number): Promise<boolean> => {
  const taking = table.update(keys.noteTakeOvers(org), {
    set: { number: before + 1 },
    if: before === 0 ? absent : condition("#number = :before", { before }),
  });
  return (await table.attempt(taking)).written;
};

/** False: another take-over has newer notes. */
const takeOverBreach = async (
  org: number,
  number: number,
  breachId: number,
  { added, acknowledged, removed }: Facts,
): Promise<boolean> => {
  const segments = await readSegments(org, breachId);
  if (segments.some((segment) => segment.number > number)) return false;
  const missing = new Map(added);
  const noted = [...added.keys(), ...acknowledged, ...removed];
  const changed: Segment[] = [];
  for (const segment of segments) {
    if (!noted.some((id) => id >= segment.from && id <= segment.to)) continue;
    const next: Record<string, number[]> = {};
    let isChanged = false;
    for (const [groupKey, bytes] of Object.entries(segment.ids)) {
      for (const id of decodeIds(bytes)) {
        missing.delete(id);
        const nextKey = acknowledged.has(id) ? acknowledgedKey(groupKey) : groupKey;
        if (nextKey !== groupKey || removed.has(id)) isChanged = true;
        if (!removed.has(id)) push(next, nextKey, id);
      }
    }
    if (isChanged) changed.push(segmentOf(segment, next));
  }

  const [last] = [...changed, ...segments].sort((one, other) => other.index - one.index);
  const lastSegment =
    changed.find(({ index }) => index === last?.index) ?? last ?? segmentOf({ index: 0, number: 0 }, {});
  const fresh = [...missing]
    .filter(([id]) => !removed.has(id))
    .map(([id, groupKey]): [number, string] => [
      id,
      acknowledged.has(id) ? acknowledgedKey(groupKey) : groupKey,
    ])
    .sort(([one], [other]) => one - other);
  const room = Math.max(0, segmentSize - lastSegment.count);
  const filled = withIds(lastSegment, fresh.slice(0, room));
  const further = [...chunk(fresh.slice(room), segmentSize)].map((some, place) =>
    withIds(segmentOf({ index: lastSegment.index + 1 + place, number: 0 }, {}), some),
  );
  const write = (segment: Segment): Write => {
    const { index, number: was, ...rest } = segment;
    return {
      put: { ...keys.breachSegment(org, breachId, index), ...rest, number },
      if: was === 0 ? absent : condition("#number = :was", { was }),
    };
  };
  // These only acknowledge and delete what is there, which no order can make wrong.
  for (const segment of changed) {
    if (segment.index === lastSegment.index) continue;
    if (!(await table.attempt(table.transact([write(segment)]))).written) return false;
  }
  // The last one is written even if it stays the same: its number tells those with older notes that theirs are old.
  return (await table.attempt(table.transact([filled, ...further].map(write)))).written;
};

const push = (ids: Record<string, number[]>, groupKey: string, id: number): void => {
  const ofGroup = ids[groupKey];
  if (ofGroup === undefined) ids[groupKey] = [id];
  else ofGroup.push(id);
};

const segmentOf = (
  { index, number }: Pick<Segment, "index" | "number">,
  ids: Record<string, number[]>,
): Segment => {
  const encoded: Record<string, Uint8Array> = {};
  let [count, from, to] = [0, Number.MAX_SAFE_INTEGER, 0];
  for (const [groupKey, ofGroup] of Object.entries(ids)) {
    ofGroup.sort((one, other) => one - other);
    encoded[groupKey] = encodeIds(ofGroup);
    count += ofGroup.length;
    from = Math.min(from, ofGroup[0] ?? from);
    to = Math.max(to, ofGroup.at(-1) ?? to);
  }
  return { index, number, count, from, to, ids: encoded };
};

const withIds = (segment: Segment, entries: readonly (readonly [number, string])[]): Segment => {
  if (entries.length === 0) return segment;
  const ids: Record<string, number[]> = {};
  for (const [groupKey, bytes] of Object.entries(segment.ids)) ids[groupKey] = decodeIds(bytes);
  for (const [id, groupKey] of entries) push(ids, groupKey, id);
  return segmentOf(segment, ids);
};

/** The rows of an index that a breach's findings, ascending by id, fill from its beginning. */
export const rowsOf = (org: number, breachId: number, entries: readonly (readonly [number, string])[]) =>
  [...chunk(entries, segmentSize)].map((some, place) => {
    const { index, ...rest } = withIds(segmentOf({ index: place, number: 1 }, {}), some);
    return { ...keys.breachSegment(org, breachId, index), ...rest };
  });

/** Group keys by id, for audits. `noted`: what notes say, if they were read before. */
export const groupKeysOf = async (
  org: number,
  breachId: number,
  noted?: ReadonlyMap<number, Facts>,
): Promise<Map<number, string>> => {
  const { facts, segments } = await entriesOf(org, breachId, noted);
  const groupKeys = new Map<number, string>();
  const note = (id: number, groupKey: string): void => {
    if (facts?.removed.has(id)) return;
    const isAcknowledged = facts?.acknowledged.has(id) || findings.groupOf({ group: groupKey }).acknowledged;
    groupKeys.set(id, isAcknowledged ? acknowledgedKey(groupKey) : groupKey);
  };
  for (const [id, groupKey] of facts?.added ?? []) note(id, groupKey);
  for (const { ids } of segments) {
    for (const [groupKey, bytes] of Object.entries(ids))
      for (const id of decodeIds(bytes)) note(id, groupKey);
  }
  return groupKeys;
};
