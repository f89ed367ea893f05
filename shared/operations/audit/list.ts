/** Compares a list's tally with its members, and the head row of ids with the ids in use. */
import { chunk } from "../../aws/table/chunk.ts";
import { asRead, type Item, type Write } from "../../aws/table/condition.ts";
import { type Key, keys, type ListKind } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { blockOf, drawBlocks, firstIdOf } from "../../lists/blocks.ts";
import type { Member } from "../../lists/counted-list.ts";
import { isReserved } from "../../lists/group-key.ts";
import * as tallies from "../../lists/tally.ts";
import { compare } from "./derived-row.ts";
import type { Inspector, Problem } from "./inspector.ts";

/** What the audit needs of a counted list. */
type AuditedList<M extends Member> = {
  kind: ListKind;
  members: (org: number, block: number) => Promise<M[]>;
};

/** `isRight`: the tally counts what there is. */
type ListAudit = { rows: number; blocks: number; isRight: boolean };

/** Is called with the number of blocks of a list that are done, and the number of all. */
export type Progress = (kind: string, done: number, total: number) => void;

export type Context = { org: number; inspector: Inspector; progress: Progress };

/**
 * Goes through a list, oldest block first. Compares the members of each block with its counters and by
 * `problemsOf`. Then compares the head row with the ids in use.
 */
export const auditList = async <M extends Member>(
  { org, inspector, progress }: Context,
  list: AuditedList<M>,
  problemsOf: (members: M[]) => Promise<Problem[]>,
): Promise<ListAudit> => {
  const { kind } = list;
  const name = kind.toLowerCase();
  const blocks = await blocksOf(org, kind);
  const audited: ListAudit = { rows: 0, blocks: blocks.length, isRight: true };
  let latest = "";
  let highestId = 0;
  for (const [at, block] of blocks.entries()) {
    const subject = { kind: `${name} block`, id: block };
    const key = keys.tally(org, kind, block);
    let members: M[] = [];
    const left = await inspector.check(async () => {
      const row = await table.get<Item>(key);
      members = await list.members(org, block);
      // Whoever writes a member counts it in the same transaction.
      const derived = { key, row, holds: tallyRow(row, members, latest), reliesOn: ["writes"] };
      return [...compare(subject, derived), ...(await problemsOf(members))];
    });
    if (left.some((problem) => problem.kind === subject.kind)) audited.isRight = false;
    for (const { createdAt } of members) if (createdAt > latest) latest = createdAt;
    highestId = Math.max(highestId, members.at(-1)?.id ?? 0);
    audited.rows += members.length;
    progress(name, at + 1, blocks.length);
  }
  const beyond = Math.max(blocks.at(-1) ?? -1, blockOf(highestId)) + 1;
  const used = { highestId, latest, blocks: beyond, count: blocks.length };
  await inspector.check(() => compareHead(org, kind, used));
  return audited;
};

/**
 * How many of the latest blocks that the tally does not name are searched for members. Most belong to other
 * organizations.
 */
const maximumProbes = 2000;
const probesAtOnce = 16;

/**
 * The blocks that the tally names or that hold members, ascending. They are searched for only where
 * the tally names fewer than were drawn: other organizations have drawn thousands.
 */
const blocksOf = async (org: number, kind: ListKind): Promise<number[]> => {
  const named = new Set((await tallies.read(org, kind)).map(({ block }) => block));
  const head = await table.get<Partial<Head>>(keys.listHead(org, kind));
  const inOrder = () => [...named].sort((one, other) => one - other);
  const isUnused = head === undefined && named.size === 0;
  if (isUnused || (head?.blocks !== undefined && named.size >= head.blocks)) return inOrder();
  const drawn = (await table.get<{ value?: number }>(keys.counter(kind)))?.value ?? 0;
  const newest = Math.min(head?.block ?? drawn, drawn);
  const unnamed: number[] = [];
  for (let block = newest; block >= 0 && unnamed.length < maximumProbes; block--) {
    if (!named.has(block)) unnamed.push(block);
  }
  for (const some of chunk(unnamed, probesAtOnce)) {
    const probe = async (block: number): Promise<void> => {
      const { pk } = keys.member(org, kind, block, 0);
      const members = await table.query<Key>({ pk, limit: 1, project: ["pk"] });
      if (members.length > 0) named.add(block);
    };
    await Promise.all(some.map(probe));
  }
  return inOrder();
};

/**
 * What the tally must say of a block with these members: how many there are of each group key, and `from`.
 * `notBefore`: the latest time of a member of an earlier block.
 */
const tallyRow = (row: Item | undefined, members: readonly Member[], notBefore: string): Item => {
  const names = Object.keys(row ?? {}).filter((name) => !isReserved(name));
  const counts = Map.groupBy(members, ({ group }) => group);
  const from = Number(row?.from ?? 0);
  const earliest = notBefore === "" ? 1 : Date.parse(notBefore);
  const oldest = Math.min(...members.map(({ createdAt }) => Date.parse(createdAt)));
  const isEmpty = members.length === 0 && from === 0;
  const isFromRight = isEmpty || (from >= earliest && from <= oldest);
  return {
    ...Object.fromEntries(names.map((name) => [name, undefined])),
    ...Object.fromEntries([...counts].map(([groupKey, some]) => [groupKey, some.length])),
    from: isFromRight ? row?.from : Number.isFinite(oldest) ? oldest : earliest,
  };
};

/** As in lists/blocks.ts. `blocks`: how many were drawn. */
type Head = { block: number; next: number; left: number; at: string; blocks?: number };
/** `count`: how many blocks there are. `blocks`: the lowest number that no block has. */
type Used = { highestId: number; latest: string; blocks: number; count: number };

/**
 * Ids are reserved before they are used. So the head row, read after the members, lies beyond all of them.
 * The rows do not say which ids of its block are reserved. So a repair hands out none of them.
 */
const compareHead = async (org: number, kind: ListKind, used: Used): Promise<Problem[]> => {
  const subject = { kind: `${kind.toLowerCase()} ids`, id: org };
  const key = keys.listHead(org, kind);
  const head = await table.get<Head>(key);
  const counter = await table.get<{ value: number }>(keys.counter(kind));
  const drawn = counter?.value ?? 0;
  const drawnProblems = compare(subject, {
    key: keys.counter(kind),
    row: counter,
    holds: { value: Math.max(drawn, used.blocks) },
  });
  const { block, next, left, at } = head ?? { block: -1, next: 0, left: 0, at: "" };
  const isRight =
    block < Math.max(drawn, used.blocks) &&
    block >= used.blocks - 1 &&
    next > used.highestId &&
    left >= 0 &&
    next + left === firstIdOf(block + 1) &&
    (head?.blocks ?? 0) >= used.count &&
    at >= used.latest;
  if (isRight || (head === undefined && used.blocks === 0) || drawnProblems.length > 0) return drawnProblems;
  const repair = async (): Promise<Write[]> => {
    const fresh = await drawBlocks(kind, 1);
    const from = [new Date().toISOString(), at, used.latest].sort().at(-1);
    const first = firstIdOf(fresh);
    const left = firstIdOf(fresh + 1) - first;
    const set = { block: fresh, next: first, left, at: from, from, blocks: used.count + 1 };
    return [{ update: key, set, if: asRead({ block: head?.block, next: head?.next, left: head?.left }) }];
  };
  const says =
    `the next id is ${next}, ${left} are left of block ${block}; id ${used.highestId} of block ` +
    `${used.blocks - 1} is in use`;
  return [{ ...subject, topic: "head", says, repair }];
};
