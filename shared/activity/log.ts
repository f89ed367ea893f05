import { retentionAt } from "../api/retention.ts";
import type { Actor } from "../organizations/actor.ts";
import { removedUserIds } from "../organizations/user.ts";
import { entries } from "./activity.ts";
import type { ActivityEntry } from "./schema.ts";

/** A page of the activity of the last 365 days, newest first. */
export const list = async (
  org: number,
  query: { limit: number; offset: number; category?: ActivityEntry["category"] | undefined },
  now: Date,
): Promise<{ activity: ActivityEntry[]; total: number; retention: ReturnType<typeof retentionAt> }> => {
  const { category, limit, offset } = query;
  const retention = retentionAt(now);
  const [{ items, total }, removed] = await Promise.all([
    entries.page(org, {
      limit,
      offset,
      since: retention.visibleSince,
      ...(category !== undefined && {
        matches: (facet: { category: string }) => facet.category === category,
      }),
    }),
    removedUserIds(org),
  ]);
  return {
    activity: items.map((row) => ({
      id: row.id,
      createdAt: row.createdAt,
      category: row.category,
      action: row.action,
      summary: row.summary,
      actor: shown(row.actor, removed),
    })),
    total,
    retention,
  };
};

/** Of a removed user neither name nor address is shown. */
const shown = (actor: Actor, removed: ReadonlySet<number>): ActivityEntry["actor"] =>
  actor.type === "user" && removed.has(actor.id)
    ? { type: "removed", label: "Removed user" }
    : { type: actor.type, label: actor.label };
