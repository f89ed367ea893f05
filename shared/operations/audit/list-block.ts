/** Compares what the directory says of a block, its counters above all, with the members of the block. */

import { chunk } from "../../aws/table/chunk.ts";
import { asRead, type Item } from "../../aws/table/condition.ts";
import { type Key, keys, type ListKind } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Member } from "../../lists/counted-list.ts";
import { type Block, blockIn } from "../../lists/directory.ts";
import { changedDuringRead, type Inspection, type Problem } from "./inspector.ts";

/** What the audit needs of a counted list. */
export type AuditedList<M extends Member> = {
  kind: ListKind;
  members: (org: number, block: number, options?: { project?: readonly string[] }) => Promise<M[]>;
};

export type WrongBlock = Problem & { excess: [groupKey: string, by: number][] };

/** A counter or `from`: what is there and what should be there, undefined for nothing. */
type Wrong = { name: string; is: number | undefined; should: number | undefined };

/**
 * What is wrong with a block of the directory (undefined: the directory does not name it); undefined if
 * nothing is wrong. `notBefore`: the latest time of a member of an earlier block.
 */
export const wrongIn = (
  block: Block | undefined,
  members: readonly Member[],
  notBefore: string,
): Wrong[] | undefined => {
  const wrong = [...wrongCounters(block, members), ...wrongFrom(block, members, notBefore)];
  return wrong.length === 0 ? undefined : wrong;
};

const wrongCounters = (block: Block | undefined, members: readonly Member[]): Wrong[] => {
  const counts = block?.counts ?? new Map<string, number>();
  const byGroup = Map.groupBy(members, ({ group }) => group);
  return [...new Set([...byGroup.keys(), ...counts.keys()])]
    .sort()
    .map((name) => ({ name, is: counts.get(name), should: byGroup.get(name)?.length }))
    .filter(({ is = 0, should = 0 }) => is !== should);
};

const wrongFrom = (block: Block | undefined, members: readonly Member[], notBefore: string): Wrong[] => {
  const { from, counts } = block ?? { from: 0, counts: new Map<string, number>() };
  if (members.length === 0 && from === 0 && counts.size === 0) return [];
  const times = members.map(({ createdAt }) => Date.parse(createdAt));
  const oldest = times.reduce((one, other) => Math.min(one, other), Number.POSITIVE_INFINITY);
  const earliest = notBefore === "" ? 1 : Date.parse(notBefore);
  if (from >= earliest && from <= oldest) return [];
  return [{ name: "from", is: from || undefined, should: Number.isFinite(oldest) ? oldest : earliest }];
};

export const inspectBlock =
  <M extends Member>(
    org: number,
    list: AuditedList<M>,
    number: number,
    notBefore: string,
  ): Inspection<WrongBlock> =>
  async () => {
    const key = keys.directory(org, list.kind, number);
    const before = await table.get<{ writes?: number }>(key);
    const members = await list.members(org, number, { project: ["id", "createdAt", "group"] });
    const [wire] = await table.queryWire({ pk: key.pk, from: key.sk, to: key.sk });
    const wrong = wrongIn(wire && blockIn(wire), members, notBefore);
    if (wrong === undefined) return undefined;
    const stored = wire === undefined ? {} : table.fromWire<Item>(wire);
    // Whoever writes a member counts it in the same transaction.
    if (before?.writes !== stored.writes) return changedDuringRead;
    return {
      says: wrong
        .map(({ name, should }) => `${name} is ${stored[name] ?? "missing"}, should be ${should ?? 0}`)
        .join("; "),
      excess: wrong
        .filter(({ name }) => name !== "from")
        .map(({ name, is = 0, should = 0 }) => [name, (is || 0) - should]),
      repair: () => setCounters(key, wrong, stored.writes as number | undefined),
    };
  };

/** How many attributes one update sets, because an expression may have 4 KB. */
const attributesPerUpdate = 50;

/** Sets what is wrong, on the condition that no member was written since the row was read. */
const setCounters = async (key: Key, wrong: readonly Wrong[], read: number | undefined): Promise<void> => {
  let writes = read;
  for (const part of chunk(wrong, attributesPerUpdate)) {
    await table.update(key, {
      set: Object.fromEntries(part.map(({ name, should }) => [name, should])),
      remove: part.filter(({ should }) => should === undefined).map(({ name }) => name),
      add: { writes: 1 },
      if: asRead({ writes }),
    });
    writes = (writes ?? 0) + 1;
  }
};
