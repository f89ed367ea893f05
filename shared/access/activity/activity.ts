import type { Write } from "../../aws/table/condition.ts";
import { type Reserved, reserve, reserveOne } from "../../lists/blocks.ts";
import { countedList } from "../../lists/counted-list.ts";
import { type Action, type Category, categoryOf } from "./actions.ts";
import type { Actor } from "./actor.ts";

type Entry = { action: Action; category: Category; summary: string; actor: Actor };

export const entries = countedList<{ category: Category }, Entry>("ACTIVITY", { category: "word" });

type NewEntry = Omit<Entry, "category">;

export type EntryRecord = NonNullable<Awaited<ReturnType<typeof entries.get>>>;

/** Reserves the ids and times of several entries. */
export const slots = (org: number, count: number): Promise<Reserved[]> => reserve(org, "ACTIVITY", count);

/**
 * Reserves the id and time of an entry. Call it together with the reads before the transaction, to save a
 * trip.
 */
export const slot = (org: number): Promise<Reserved> => reserveOne(org, "ACTIVITY");

/**
 * An entry of this age or older is there, or never will be. Readers that remember where they were rely on it.
 */
export const settledMilliseconds = 60_000;

/** Tries are aborted then (aws/table/patience.ts). DynamoDB may still commit the last one, and clocks differ. */
const latestMilliseconds = settledMilliseconds / 2;

/**
 * The writes that log an action, for the action's own transaction. It begins at most half a minute after
 * `slot`.
 */
export const writes = (org: number, reserved: Reserved, entry: NewEntry): Write[] =>
  writesOfSeveral(org, [{ reserved, ...entry }]);

/** The same for several actions of one transaction. */
export const writesOfSeveral = (
  org: number,
  all: readonly ({ reserved: Reserved } & NewEntry)[],
): Write[] => {
  const [first] = all.map(({ reserved }) => reserved.createdAt).sort();
  if (first === undefined) return [];
  const until = new Date(Date.parse(first) + latestMilliseconds).toISOString();
  const puts = all.map(({ reserved, action, summary, actor }) => {
    const category = categoryOf[action];
    return entries.put(org, reserved, { category }, { action, category, summary, actor });
  });
  return entries.writes(org, puts).map((write) => ({ ...write, until }));
};

/**
 * The writes that log an action of several transactions, for each of them: the first adds the entry, and
 * later ones (`isLogged`) change its summary.
 */
export const counting = (org: number, reserved: Reserved, isLogged: boolean, entry: NewEntry): Write[] => {
  if (!isLogged) return writes(org, reserved, entry);
  const from = { category: categoryOf[entry.action] };
  return entries.writes(org, [entries.change(org, reserved.id, { from, set: { summary: entry.summary } })]);
};
