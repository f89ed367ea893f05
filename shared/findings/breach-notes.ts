/**
 * Notes of which findings of a breach were detected, acknowledged or deleted, in the transaction that does so: one row for each
 * block of findings, or several where many write at once. They stay until the index takes them over (breach-index.ts). A finding only ever moves from open to
 * acknowledged to deleted, so notes mean the same in any order and however often they are taken over.
 */
import { randomBytes } from "node:crypto";
import { condition, type Write } from "../aws/table/condition.ts";
import { keys, padded } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { blockOf, blockSize, firstIdOf } from "../lists/blocks.ts";

/** `from` is missing when the finding is detected, `to` when it is deleted: group keys. */
export type NotedChange = {
  id: number;
  breachId: number;
  from?: string | undefined;
  to?: string | undefined;
};

/** What notes say of one breach. `added`: id to group key. */
export type Facts = { added: Map<number, string>; acknowledged: Set<number>; removed: Set<number> };

/** A row of notes. With `life` and `writes` it is deleted only as it was read. */
export type NoteRow = {
  block: number;
  part: number;
  life: string;
  writes: number;
  bytes: number;
  facts: Map<number, Facts>;
};

const parts = 12;

const acknowledgedAttribute = "acknowledged";
const removedAttribute = "removed";
const otherAttributes = new Set(["pk", "sk", "life", "writes"]);

/** The attribute that a change is noted in: detected ones under their group key. */
const attributeOf = ({ from, to }: NotedChange): string => {
  if (to === undefined) return removedAttribute;
  return from === undefined ? to : acknowledgedAttribute;
};

/** The notes of changes that change a group, in the rows of this part. One write for each block. */
export const writes = (org: number, changes: readonly NotedChange[], part = 0): Write[] =>
  [
    ...Map.groupBy(
      changes.filter(({ from, to }) => from !== to),
      ({ id }) => blockOf(id),
    ),
  ].map(([block, ofBlock]) => {
    const noted = Map.groupBy(ofBlock, attributeOf);
    const numbers = [...noted].map(([name, some]) => [name, new Set(some.map(numberOf))] as const);
    return {
      update: keys.findingNotes(org, block, part % parts),
      add: { ...Object.fromEntries(numbers), writes: 1 },
      setOnce: { life: randomBytes(6).toString("base64url") },
    };
  });

/** Breach and place in the block in one number, which takes few bytes in a set. */
const numberOf = ({ id, breachId }: NotedChange): number =>
  breachId * blockSize + id - firstIdOf(blockOf(id));

const emptyFacts = (): Facts => ({ added: new Map(), acknowledged: new Set(), removed: new Set() });

/** Rows of notes, oldest block first: all, or `limit` of them. */
export const read = async (org: number, options: { limit?: number } = {}): Promise<NoteRow[]> => {
  const { pk } = keys.findingNotes(org, 0);
  const rows = await table.queryWire({ pk, to: padded(Number.MAX_SAFE_INTEGER), ...options });
  return rows.map(noteRow);
};

const noteRow = (row: table.WireRow): NoteRow => {
  const [block = 0, part = 0] = (row.sk?.S ?? "").split(".").map(Number);
  const facts = new Map<number, Facts>();
  let bytes = 100;
  for (const [name, value] of Object.entries(row)) {
    if (otherAttributes.has(name)) continue;
    for (const text of value.NS ?? []) {
      bytes += text.length / 2 + 2;
      const number = Number(text);
      const id = firstIdOf(block) + (number % blockSize);
      const breachId = Math.floor(number / blockSize);
      const ofBreach = facts.get(breachId) ?? emptyFacts();
      facts.set(breachId, ofBreach);
      if (name === acknowledgedAttribute) ofBreach.acknowledged.add(id);
      else if (name === removedAttribute) ofBreach.removed.add(id);
      else ofBreach.added.set(id, name);
    }
  }
  return { block, part, life: row.life?.S ?? "", writes: Number(row.writes?.N), bytes, facts };
};

/** What rows say together, by breach. */
export const factsOf = (rows: readonly Pick<NoteRow, "facts">[]): Map<number, Facts> => {
  const all = new Map<number, Facts>();
  for (const { facts } of rows) {
    for (const [breachId, { added, acknowledged, removed }] of facts) {
      const sum = all.get(breachId) ?? emptyFacts();
      all.set(breachId, sum);
      for (const [id, groupKey] of added) sum.added.set(id, groupKey);
      for (const id of acknowledged) sum.acknowledged.add(id);
      for (const id of removed) sum.removed.add(id);
    }
  }
  return all;
};

/**
 * Deletes the rows of a block's notes, all or none, unless something was noted since they were read. If some of them stayed, a finding
 * whose deletion is forgotten would be taken over again from the row that says it was detected.
 */
export const forget = async (org: number, rows: readonly NoteRow[]): Promise<boolean> => {
  const deletions = rows.map(({ block, part, life, writes }) => ({
    delete: keys.findingNotes(org, block, part),
    if: condition("#life = :life AND #writes = :writes", { life, writes }),
  }));
  const [only, ...others] = deletions;
  // A transaction costs twice as much.
  const deleting =
    only !== undefined && others.length === 0
      ? table.remove(only.delete, only.if)
      : table.transact(deletions);
  return (await table.attempt(deleting)).written;
};
