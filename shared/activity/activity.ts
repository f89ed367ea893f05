import type { Actor } from "../organizations/actor.ts";
import { type Reserved, reserveOne } from "../table/blocks.ts";
import type { Write } from "../table/condition.ts";
import { countedList } from "../table/counted-list.ts";
import { type Action, type Category, categoryOf } from "./actions.ts";

type Entry = { action: Action; category: Category; summary: string; actor: Actor };

export const entries = countedList<{ category: Category }, Entry>("ACTIVITY", { category: "word" });

/** A place in the log; draw it beside the reads that precede the transaction. */
export const slot = (org: number): Promise<Reserved> => reserveOne(org, "ACTIVITY");

/** The writes that log an action; they belong in the transaction that does it. */
export const writes = (
  org: number,
  reserved: Reserved,
  { action, summary, actor }: { action: Action; summary: string; actor: Actor },
): Write[] => {
  const category = categoryOf[action];
  return entries.writes(org, [
    entries.put(org, reserved, { category }, { action, category, summary, actor }),
  ]);
};
