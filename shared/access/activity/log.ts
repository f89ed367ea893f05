import { retentionAt } from "../../contract/retention.ts";
import { type Membership, membership, shownActor } from "../members/membership.ts";
import type { Category } from "./actions.ts";
import { type EntryRecord, entries } from "./activity.ts";
import type { ActivityEntry } from "./activity-schema.ts";

/** A page of the entries that are still visible, newest first; `total` counts those that match the filter. */
export const list = async (
  org: number,
  query: { limit: number; offset: number; category?: Category | undefined },
  now: Date,
): Promise<{ activity: ActivityEntry[]; total: number; retention: ReturnType<typeof retentionAt> }> => {
  const { category, limit, offset } = query;
  const retention = retentionAt(now);
  const [{ items, total }, users] = await Promise.all([
    entries.page(org, {
      limit,
      offset,
      since: retention.visibleSince,
      attributes: shownAttributes,
      matches: category === undefined ? undefined : (group) => group.category === category,
    }),
    membership(org),
  ]);
  return {
    activity: items.map((row) => shownEntry(row, users)),
    total,
    retention,
  };
};

export const shownAttributes = ["createdAt", "category", "action", "summary", "actor"] as const;

/** An entry as clients see it. */
export const shownEntry = (
  {
    id,
    createdAt,
    category,
    action,
    summary,
    actor,
  }: Pick<EntryRecord, "id" | (typeof shownAttributes)[number]>,
  users: Membership,
): ActivityEntry => ({ id, createdAt, category, action, summary, actor: shownActor(actor, users) });
