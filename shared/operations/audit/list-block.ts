/** Compares what the directory says of a block, its counters above all, with the members of the block. */

import { chunk } from "../../aws/table/chunk.ts";
import { asRead } from "../../aws/table/condition.ts";
import { type Key, keys, type ListKind } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { timedKinds } from "../../lists/compact.ts";
import type { Member } from "../../lists/counted-list.ts";
import { type Block, readStored, type StoredBlock } from "../../lists/directory.ts";
import { newLife } from "../../lists/member-writes.ts";
import { changedDuringRead, type Inspection, type Problem } from "./inspector.ts";
import type { AuditedList } from "./list.ts";

export type WrongBlock = Problem & { excess: [groupKey: string, by: number][] };

/**
 * A counter or `from`: what is there and what should be there, undefined for nothing. `is` can be right when
 * `says` tells another fault.
 */
type Wrong = { name: string; is: unknown; should: string | number | undefined; says?: string };

const longAgo = new Date(0).toISOString();

/**
 * What is wrong with a block of the directory (undefined: the directory does not name it); undefined if
 * nothing is wrong. `notBefore`: the latest time of a member of an earlier block.
 */
export const wrongIn = (
  kind: ListKind,
  block: Block | undefined,
  members: readonly Member[],
  notBefore: string,
): Wrong[] | undefined => {
  const wrong = [...wrongCounters(block, members), ...wrongFrom(kind, block, members, notBefore)];
  return wrong.length === 0 ? undefined : wrong;
};

const wrongCounters = (block: Block | undefined, members: readonly Member[]): Wrong[] => {
  const { counts, rare } = block ?? { counts: new Map<string, number>(), rare: new Map<string, number[]>() };
  const idsByGroup = Map.groupBy(members, ({ group }) => group);
  const names = new Set([...idsByGroup.keys(), ...counts.keys(), ...rare.keys()]);
  return [...names].sort().flatMap((name): Wrong[] => {
    const ids = (idsByGroup.get(name) ?? []).map(({ id }) => id).reverse();
    const should = idsByGroup.get(name)?.length;
    const is = counts.get(name);
    if ((is ?? 0) !== (should ?? 0)) return [{ name, is, should }];
    const noted = rare.get(name);
    if (noted === undefined || String(noted) === String(ids)) return [];
    const says = `rare members of ${name} are ${listed(noted)}, should be ${listed(ids)}`;
    return [{ name, is, should: should ?? 0, says }];
  });
};

const listed = (ids: readonly number[]): string => ids.join(", ") || "none";

/** A list without time boundary has folds that do not say when blocks began. */
const wrongFrom = (
  kind: ListKind,
  block: Block | undefined,
  members: readonly Member[],
  notBefore: string,
): Wrong[] => {
  const from = block?.from || undefined;
  const mayLack = block !== undefined && block.from === undefined && !timedKinds.includes(kind);
  const isEmpty = members.length === 0 && from === undefined && (block?.counts.size ?? 0) === 0;
  if (mayLack || isEmpty) return [];
  const oldest = members.map(({ createdAt }) => createdAt).sort()[0];
  const isRight = from !== undefined && from >= notBefore && (oldest === undefined || from <= oldest);
  return isRight ? [] : [{ name: "from", is: from, should: oldest ?? (notBefore || longAgo) }];
};

export const inspectBlock =
  <M extends Member>(
    org: number,
    list: AuditedList<M>,
    number: number,
    notBefore: string,
  ): Inspection<WrongBlock> =>
  async () => {
    const before = await readStored(org, list.kind, number);
    const members = await list.members(org, number, { project: ["id", "createdAt", "group"] });
    const stored = await readStored(org, list.kind, number);
    const wrong = wrongIn(list.kind, stored.block, members, notBefore);
    if (wrong === undefined) return undefined;
    if (wrong.some(({ name }) => said(before, name) !== said(stored, name))) return changedDuringRead;
    return {
      says: wrong
        .map(
          ({ name, is, should, says }) =>
            says ?? `${name} is ${shown(stored, name, is)}, should be ${should ?? 0}`,
        )
        .join("; "),
      excess: wrong
        .filter(({ name }) => name !== "from")
        .map(({ name, is, should }) => [name, Number(is ?? 0) - Number(should ?? 0)]),
      repair: () => setCounters(keys.directory(org, list.kind, number, stored.part), wrong, stored),
    };
  };

const said = ({ own, block }: StoredBlock, name: string): string =>
  name === "from"
    ? String(block?.from)
    : `${block?.counts.get(name)} ${own?.[name]} ${block?.rare.get(name)}`;

/** A damaged counter that is not a number is shown as it is stored. */
const shown = ({ own }: StoredBlock, name: string, is: unknown): unknown =>
  Number.isNaN(is) ? own?.[name] : (is ?? "missing");

/** How many attributes one update sets, because an expression may have 4 KB. */
const attributesPerUpdate = 50;

/**
 * Sets each wrong counter of the own row, on the condition that it is as it was read, to what fold and other own rows lack.
 * Even a counter of 0 makes readers ignore the rare members that the fold notes for this group.
 */
const setCounters = async (
  key: Key,
  wrong: readonly Wrong[],
  { own = {}, others }: StoredBlock,
): Promise<void> => {
  for (const part of chunk(wrong, attributesPerUpdate)) {
    const values = part.map(({ name, should }) => {
      // Another damaged row is repaired after this one.
      const elsewhere = others?.counts.get(name);
      // Of several damaged rows each is repaired as if the others were empty, until none is damaged.
      const value = elsewhere === undefined ? should : Number(should ?? 0) - (elsewhere || 0);
      return { name, is: own[name], value };
    });
    await table.update(key, {
      set: Object.fromEntries(values.map(({ name, value }) => [name, value])),
      setOnce: { life: newLife() },
      remove: values
        .filter(({ value, is }) => value === undefined && is !== undefined)
        .map(({ name }) => name),
      add: { writes: 1 },
      if: asRead(Object.fromEntries(values.map(({ name, is }) => [name, is]))),
    });
  }
};
