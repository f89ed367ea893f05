import { retentionAt } from "../../contract/retention.ts";
import { membership, shownActor } from "../members/membership.ts";
import type { Category } from "./actions.ts";
import { entries } from "./activity.ts";
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
      attributes: ["createdAt", "category", "action", "summary", "actor"],
      matches: category === undefined ? undefined : (group) => group.category === category,
    }),
    membership(org),
  ]);
  return {
    activity: items.map((row) => ({
      id: row.id,
      createdAt: row.createdAt,
      category: row.category,
      action: row.action,
      summary: row.summary,
      actor: shownActor(row.actor, users),
    })),
    total,
    retention,
  };
};
