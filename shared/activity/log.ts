import { retentionAt } from "../api/retention.ts";
import type { Actor } from "../organizations/actor.ts";
import { type Membership, membership } from "../organizations/user.ts";
import type { Category } from "./actions.ts";
import { entries } from "./activity.ts";
import type { ActivityEntry } from "./schema.ts";

/** A page of the activity of the last 365 days, newest first. */
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
      matches: category === undefined ? undefined : (facet) => facet.category === category,
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
      actor: shown(row.actor, users),
    })),
    total,
    retention,
  };
};

/** Of a removed user, and of one who is not a member, neither name nor address is shown. */
const shown = (actor: Actor, { members, removed }: Membership): ActivityEntry["actor"] => {
  if (actor.type !== "user" || members.has(actor.id)) return { type: actor.type, label: actor.label };
  return removed.has(actor.id)
    ? { type: "removed", label: "Removed user" }
    : { type: "support", label: "Support" };
};
