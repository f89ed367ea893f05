import { blockOf, drawBlocks, firstIdOf } from "../table/blocks.ts";
import type { Member } from "../table/counted-list.ts";
import * as directories from "../table/directory.ts";
import { type Key, keys, type ListKind } from "../table/keys.ts";
import { type Marks, markedIds, marksOf } from "../table/marks.ts";
import { parts } from "../table/parts.ts";
import { type StoredBlock, storedBlock } from "../table/roll-up.ts";
import * as table from "../table/table.ts";
import { asRead, type Examination, type Found, type Look, moving } from "./difference.ts";

/** What the check needs of a counted list. */
export type CheckedList<M extends Member> = {
  kind: ListKind;
  members: (org: number, block: number, options?: { project?: readonly string[] }) => Promise<M[]>;
};

export type Passed = {
  rows: number;
  blocks: number;
  /** By how much the directory's counters exceed its members where that was not mended: facet to number. */
  excess: Map<string, number>;
};

const always = ["id", "createdAt", "facet"] as const;
type Always = (typeof always)[number];

/** Blocks read ahead. */
const width = 4;

/** Blocks without a directory row that are looked into, the latest first: most are other organizations'. */
const maximumProbes = 2000;
const probesAtOnce = 16;

/**
 * Goes through a list, oldest block first, with about `width` blocks in memory: each block's members against its directory
 * row, then the head that ids are handed out from. `visit` gets every block's members.
 */
export const goThrough = async <M extends Member, Name extends keyof M & string>(
  org: number,
  list: CheckedList<M>,
  examination: Examination,
  options: {
    /** Attributes that `visit` looks at beside `id`, `createdAt` and `facet`. */
    attributes: readonly Name[];
    visit: (rows: Pick<M, Name | Always>[]) => Promise<void>;
    progress: (done: number, of: number) => void;
  },
): Promise<Passed> => {
  const { kind } = list;
  const project = [...new Set<string>([...always, ...options.attributes])];
  const { directory } = await directories.read(org, kind, { withMarks: true });
  const byBlock = new Map(directories.rowsOf(directory).map((row) => [row.block, row]));
  const lost = await membersWithoutDirectory(org, kind, byBlock);
  const blocks = [...byBlock.keys(), ...lost].sort((one, other) => one - other);
  const expected = directory.reduce(
    (sum, { counts }) => sum + [...counts.values()].reduce((all, count) => all + count, 0),
    0,
  );

  const passed: Passed = { rows: 0, blocks: blocks.length, excess: new Map() };
  let latest = "";
  let highestId = 0;
  const reading: Promise<M[]>[] = [];
  const readAhead = (index: number): void => {
    const block = blocks[index];
    if (block === undefined) return;
    const members = list.members(org, block, { project });
    // It is awaited in its turn.
    members.catch(() => {});
    reading[index] = members;
  };
  for (let index = 0; index < width; index++) readAhead(index);
  for (const [index, block] of blocks.entries()) {
    const members = (await reading[index]) as M[];
    delete reading[index];
    readAhead(index + width);

    const row = byBlock.get(block);
    const stored: Stored = {
      counters: row?.counts ?? new Map(),
      marks: row?.marks ?? new Map(),
      from: row?.from || undefined,
    };
    if (wrongIn(block, stored, members, keepsFrom(kind, row) ? latest : undefined) !== undefined) {
      const left = await examination.examine(
        { kind: `${kind.toLowerCase()} block`, id: block },
        lookAtBlock(org, list, block, latest),
      );
      for (const [facet, by] of left?.excess ?? []) {
        passed.excess.set(facet, (passed.excess.get(facet) ?? 0) + by);
      }
    }
    for (const { createdAt } of members) if (createdAt > latest) latest = createdAt;
    highestId = Math.max(highestId, members.at(-1)?.id ?? 0);
    passed.rows += members.length;
    await options.visit(members);
    options.progress(passed.rows, Math.max(expected, passed.rows));
  }
  await examination.examine(
    { kind: `${kind.toLowerCase()} ids`, id: org },
    lookAtHead(org, kind, { highestId, latest, highestBlock: blocks.at(-1) ?? -1 }),
  );
  return passed;
};

/** Blocks that hold members although no directory row says so. */
const membersWithoutDirectory = async (
  org: number,
  kind: ListKind,
  known: ReadonlyMap<number, unknown>,
): Promise<number[]> => {
  const [head, counter] = await table.getMany<{ block?: number; value?: number }>([
    keys.listHead(org, kind),
    keys.counter(kind),
  ]);
  const drawn = counter?.value ?? 0;
  const unknown: number[] = [];
  for (
    let block = Math.min(head?.block ?? drawn, drawn);
    block >= 0 && unknown.length < maximumProbes;
    block--
  ) {
    if (!known.has(block)) unknown.push(block);
  }
  const found: number[] = [];
  for (const part of parts(unknown, probesAtOnce)) {
    await Promise.all(
      part.map(async (block) => {
        const { pk } = keys.member(org, kind, block, 0);
        const [member] = await table.query<Key>({ pk, limit: 1, project: ["pk"] });
        if (member !== undefined) found.push(block);
      }),
    );
  }
  return found;
};

/** What a directory says of a block. A counter that is no number is damage too. */
type Stored = {
  counters: ReadonlyMap<string, unknown>;
  marks: Marks;
  from: unknown;
};

const storedOf = ({ own = {}, rolledUp }: StoredBlock): Stored => {
  const counters = new Map<string, unknown>(rolledUp?.counts);
  const marks = new Map(rolledUp?.marks);
  for (const [name, value] of Object.entries(own)) {
    if (directories.isReserved(name)) continue;
    const inRollup = rolledUp?.counts.get(name);
    counters.set(name, inRollup === undefined ? value : inRollup + Number(value));
    marks.delete(name);
  }
  return { counters, marks, from: own.from ?? rolledUp?.from };
};

/** A rollup of a list without time boundary does not say when its blocks began. */
const keepsFrom = (kind: ListKind, row: Pick<directories.DirectoryRow, "from"> | undefined): boolean =>
  directories.timedKinds.includes(kind) || row === undefined || row.from !== undefined;

type WrongBlock = Found & { excess: [facet: string, by: number][] };

/** A counter or `from`: what is and what should be there, undefined for nothing; `is` can be right where marks are wrong. */
type Wrong = { name: string; is: unknown; should: string | number | undefined; says?: string };

const longAgo = new Date(0).toISOString();

/** What should be there instead. Without `notBefore` there need be no `from`. */
const wrongIn = (
  block: number,
  { counters, marks, from }: Stored,
  members: readonly Member[],
  notBefore: string | undefined,
): Wrong[] | undefined => {
  const found = new Map<string, number[]>();
  for (const { id, facet } of members) {
    const ids = found.get(facet);
    if (ids === undefined) found.set(facet, [id]);
    else ids.push(id);
  }
  const wrong: Wrong[] = [];
  for (const name of [...new Set([...found.keys(), ...counters.keys(), ...marks.keys()])].sort()) {
    const [is, should] = [counters.get(name), found.get(name)];
    const told = marks.get(name);
    const right = marksOf(block, should ?? []);
    if ((is ?? 0) !== (should?.length ?? 0)) wrong.push({ name, is, should: should?.length });
    else if (told !== undefined && told !== right) {
      const says = `marks of ${name} are ${listed(block, told)}, should be ${listed(block, right)}`;
      wrong.push({ name, is, should: should?.length ?? 0, says });
    }
  }
  const isEmpty = members.length === 0 && counters.size === 0 && from === undefined;
  if (notBefore === undefined || isEmpty) return wrong.length === 0 ? undefined : wrong;
  const oldest = members.reduce<string | undefined>(
    (least, { createdAt }) => (least === undefined || createdAt < least ? createdAt : least),
    undefined,
  );
  const isRight =
    typeof from === "string" ? from >= notBefore && (oldest === undefined || from <= oldest) : false;
  if (!isRight) wrong.push({ name: "from", is: from, should: oldest ?? (notBefore || longAgo) });
  return wrong.length === 0 ? undefined : wrong;
};

const listed = (block: number, marks: string): string => markedIds(block, marks).join(", ") || "none";

const lookAtBlock =
  <M extends Member>(org: number, list: CheckedList<M>, block: number, notBefore: string): Look<WrongBlock> =>
  async () => {
    const before = await storedBlock(org, list.kind, block);
    const members = await list.members(org, block, { project: ["id", "createdAt", "facet"] });
    const after = await storedBlock(org, list.kind, block);
    const [was, is] = [storedOf(before), storedOf(after)];
    const wrong = wrongIn(block, is, members, keepsFrom(list.kind, after.rolledUp) ? notBefore : undefined);
    if (wrong === undefined) return undefined;
    if (wrong.some(({ name }) => valuesOf(was, name) !== valuesOf(is, name))) return moving;
    return {
      says: wrong
        .map(
          ({ name, is, should, says }) => says ?? `${name} is ${is ?? "missing"}, should be ${should ?? 0}`,
        )
        .join("; "),
      excess: wrong
        .filter(({ name }) => name !== "from")
        .map(({ name, is, should }) => [name, Number(is ?? 0) - Number(should ?? 0)]),
      mend: () => setCounters(keys.directory(org, list.kind, block), wrong, after),
    };
  };

const valuesOf = ({ counters, marks, from }: Stored, name: string): string =>
  name === "from" ? String(from) : `${counters.get(name)} ${marks.get(name)}`;

/** Attributes that one update sets: an expression may hold 4 KB. */
const attributesPerUpdate = 50;

/**
 * Each counter of the block's own row, as it was read, becomes what is missing to what a rollup says. One that is there, if only
 * as 0, takes from a rollup its marks of the facet.
 */
const setCounters = async (
  key: Key,
  wrong: readonly Wrong[],
  { own = {}, rolledUp }: StoredBlock,
): Promise<void> => {
  for (const part of parts(wrong, attributesPerUpdate)) {
    const values = part.map(({ name, should }) => {
      const inRollup = rolledUp?.counts.get(name);
      return { name, is: own[name], value: inRollup === undefined ? should : Number(should ?? 0) - inRollup };
    });
    await table.update(key, {
      set: Object.fromEntries(values.map(({ name, value }) => [name, value])),
      remove: values
        .filter(({ value, is }) => value === undefined && is !== undefined)
        .map(({ name }) => name),
      add: { writes: 1 },
      if: asRead(Object.fromEntries(values.map(({ name, is }) => [name, is]))),
    });
  }
};

/** The row that ids are handed out from (blocks.ts). */
type Head = { block: number; next: number; left: number; at: string };

type Used = { highestId: number; highestBlock: number; latest: string };

/** Read after the members: ids are reserved before they are used, so it can only be further. */
const lookAtHead =
  (org: number, kind: ListKind, used: Used): Look<Found> =>
  async () => {
    const key = keys.listHead(org, kind);
    const head = await table.get<Partial<Head>>(key);
    const value = (await table.get<{ value?: number }>(keys.counter(kind)))?.value;
    const blocksInUse = Math.max(used.highestBlock, blockOf(used.highestId)) + 1;
    const isDrawn = (value ?? 0) >= blocksInUse;
    const problem = problemOf(head, { ...used, highestBlock: blocksInUse - 1, drawnBlocks: value ?? 0 });
    if (problem === undefined && isDrawn) return undefined;
    return {
      says: [
        ...(problem === undefined ? [] : [problem]),
        ...(isDrawn ? [] : [`the counter of blocks is ${value ?? "missing"}, should be ${blocksInUse}`]),
      ].join("; "),
      mend: async () => {
        if (!isDrawn) {
          await table.update(keys.counter(kind), { set: { value: blocksInUse }, if: asRead({ value }) });
        }
        if (problem !== undefined) await moveToFreshBlock(key, kind, head, used.latest);
      },
    };
  };

const problemOf = (
  head: Partial<Head> | undefined,
  used: Used & { drawnBlocks: number },
): string | undefined => {
  if (head === undefined) {
    return used.highestBlock < 0 ? undefined : "the row that ids are handed out from is not there";
  }
  const { block = -1, next = 0, left = 0, at = "" } = head;
  if (block >= used.drawnBlocks && used.drawnBlocks > used.highestBlock)
    return `the block in hand, ${block}, was never drawn`;
  if (block < used.highestBlock) return `block ${used.highestBlock} is in use, the one in hand is ${block}`;
  if (next <= used.highestId) return `id ${used.highestId} is in use, the next one is ${next}`;
  if (left < 0 || next + left !== firstIdOf(block + 1)) {
    return `${left} ids are left of block ${block} although the next one is ${next}`;
  }
  return at < used.latest ? "ids are handed out with times before the latest" : undefined;
};

/** Which ids of the block in hand were reserved cannot be told from what was written: none of them is used any more. */
const moveToFreshBlock = async (
  key: Key,
  kind: ListKind,
  head: Partial<Head> | undefined,
  latest: string,
): Promise<void> => {
  const block = await drawBlocks(kind, 1);
  const now = new Date().toISOString();
  const at = [now, head?.at ?? "", latest].sort().at(-1);
  const next = firstIdOf(block);
  await table.update(key, {
    set: { block, next, left: firstIdOf(block + 1) - next, at, from: at, tag: 0, tags: 1 },
    if: asRead({ block: head?.block, next: head?.next, left: head?.left }),
  });
};
