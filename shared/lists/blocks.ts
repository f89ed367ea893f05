/**
 * Draws ids. Ids of kinds that are no lists come one by one from a counter of the whole deployment. A counted
 * list draws blocks of 1,024 ids from such a counter. It hands them out from a head row of its organization.
 * Ids are unique across organizations, ascend with time within one, and are never reused; gaps are possible.
 */
import { absent, condition } from "../aws/table/condition.ts";
import { type CounterKind, keys, type ListKind } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";

export const blockSize = 1024;

/** A try fails only if another caller's try has succeeded. */
const maxTries = 100;

/** Block b holds the ids b·1024+1 … (b+1)·1024. */
export const blockOf = (id: number): number => Math.floor((id - 1) / blockSize);

export const firstIdOf = (block: number): number => block * blockSize + 1;

/** The next id of a kind, from 1. */
export const drawId = async (kind: CounterKind): Promise<number> => advanceCounter(kind, 1);

/** Draws `count` consecutive blocks that no other caller gets, and returns the number of the first. */
export const drawBlocks = async (kind: ListKind, count: number): Promise<number> =>
  (await advanceCounter(kind, count)) - count;

const advanceCounter = async (kind: ListKind | CounterKind, by: number): Promise<number> =>
  (await table.update<{ value: number }>(keys.counter(kind), { add: { value: by } })).value;

export type Reserved = {
  id: number;
  /** ISO 8601. Never earlier than the `createdAt` of a lower id of the same organization and kind. */
  createdAt: string;
  block: number;
  /** ISO 8601. No member of this block is older, and no member of an earlier block is younger. */
  blockFrom: string;
};

/** The head row: the block that an organization hands out ids from, and the next free id. */
type Head = {
  block: number;
  /** The next id. */
  next: number;
  /** Ids left in the block. */
  left: number;
  /** The latest `createdAt` handed out. */
  at: string;
  /** `at` when the block was drawn. */
  from: string;
};

/**
 * Reserves `count` ids, ascending and mostly consecutive, for one write unit, or a few at the end of a block.
 * `at` is the time to hand out (default: now). If the head row has a later time, that time is handed out
 * instead, because clocks differ.
 */
export const reserve = async (
  org: number,
  kind: ListKind,
  count: number,
  options: { at?: string } = {},
): Promise<Reserved[]> => {
  const key = keys.listHead(org, kind);
  const now = options.at ?? new Date().toISOString();
  const reserved: Reserved[] = [];
  // The first try guesses the head row. If the guess is wrong, the failed condition brings the row.
  let head: Head | undefined = { block: 0, next: 0, left: count, at: now, from: now };

  for (let attempt = 0; reserved.length < count; attempt++) {
    if (attempt >= maxTries)
      throw new Error(`Other callers won each of ${maxTries} tries to reserve ids of ${kind}: try again`);
    const missing = count - reserved.length;
    try {
      if (head !== undefined && head.left > 0) {
        const taken = Math.min(missing, head.left);
        head = await takeFromHead(key, head, taken, now);
        reserved.push(...members(head.next - taken, taken, head.at, head.from));
      } else {
        const count = Math.ceil(missing / blockSize);
        // Wasted if another caller moves the head row first, because ids must ascend.
        const first = await drawBlocks(kind, count);
        const from = head !== undefined && head.at > now ? head.at : now;
        await moveHead(key, head, { first, count }, missing, from);
        reserved.push(...members(firstIdOf(first), missing, from, from));
      }
    } catch (error) {
      if (!(error instanceof table.ConditionFailed)) throw error;
      head = error.item as Head | undefined;
    }
  }
  return reserved;
};

/** Reserves a single id. */
export const reserveOne = async (org: number, kind: ListKind): Promise<Reserved> => {
  const [reserved] = await reserve(org, kind, 1);
  return reserved as Reserved;
};

/**
 * Takes ids from the current block. The conditions name only what the change relies on and not the whole row:
 * a caller whose clock is behind leaves `at` alone, so that simultaneous callers do not keep failing each
 * other.
 */
const takeFromHead = (
  key: ReturnType<typeof keys.listHead>,
  known: Head,
  taken: number,
  now: string,
): Promise<Head> => {
  const isAhead = known.at <= now;
  return table.update<Head>(key, {
    set: { ...(isAhead && { at: now }) },
    add: { next: taken, left: -taken },
    if: condition(`#left >= :taken AND ${isAhead ? "#at <= :now" : "#at >= :now"}`, { taken, now }),
  });
};

/**
 * Makes the last drawn block the current one; `blocks` counts all, for the audit. `used`: how many ids of all
 * drawn ones are handed out.
 */
const moveHead = async (
  key: ReturnType<typeof keys.listHead>,
  known: Head | undefined,
  drawn: { first: number; count: number },
  used: number,
  from: string,
): Promise<void> => {
  const block = drawn.first + drawn.count - 1;
  const next = firstIdOf(drawn.first) + used;
  const head: Head = { block, next, left: firstIdOf(block + 1) - next, at: from, from };
  await table.update(key, {
    set: head,
    add: { blocks: drawn.count },
    if:
      known === undefined
        ? absent
        : condition("#block = :known AND #at <= :from", { known: known.block, from }),
  });
};

const members = (first: number, count: number, createdAt: string, blockFrom: string): Reserved[] =>
  Array.from({ length: count }, (_, index) => {
    const id = first + index;
    return { id, createdAt, block: blockOf(id), blockFrom };
  });
