import type { Write } from "../../aws/table/condition.ts";
import { type Reserved, reserveOne } from "../../lists/blocks.ts";
import { countedList } from "../../lists/counted-list.ts";
import { type Action, type Category, categoryOf } from "./actions.ts";
import type { Actor } from "./actor.ts";

type Entry = { action: Action; category: Category; summary: string; actor: Actor };

export const entries = countedList<{ category: Category }, Entry>("ACTIVITY", { category: "word" });

export type EntryRecord = NonNullable<Awaited<ReturnType<typeof entries.get>>>;

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
export const writes = (
  org: number,
  reserved: Reserved,
  { action, summary, actor }: { action: Action; summary: string; actor: Actor },
): Write[] => {
  const category = categoryOf[action];
  const entry = entries.put(org, reserved, { category }, { action, category, summary, actor });
  const until = new Date(Date.parse(reserved.createdAt) + latestMilliseconds).toISOString();
  return entries.writes(org, [entry]).map((write) => ({ ...write, until }));
};

/**
 * The writes that log an action of several transactions, for each of them: the first adds the entry, and
 * later ones (`isLogged`) change its summary.
 */
export const counting = (
  org: number,
  reserved: Reserved,
  isLogged: boolean,
  entry: { action: Action; summary: string; actor: Actor },
): Write[] => {
  if (!isLogged) return writes(org, reserved, entry);
  const from = { category: categoryOf[entry.action] };
  return entries.writes(org, [entries.change(org, reserved.id, { from, set: { summary: entry.summary } })]);
};
