import { condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { ActivityEntry } from "../activity/activity-schema.ts";
import type { Actor } from "../activity/actor.ts";

/** Ids of the organization's users, and of the users that were removed from it. No id is in both sets. */
export type Membership = { members: ReadonlySet<number>; removed: ReadonlySet<number> };

/** One row per organization, so that a page of the activity log needs one read for all of its actors. */
export const membership = async (org: number): Promise<Membership> => {
  const row = await table.get<Partial<Membership>>(keys.membership(org));
  return { members: row?.members ?? new Set(), removed: row?.removed ?? new Set() };
};

/**
 * The actor as clients see it. Name and address of removed users, and of users who were never members
 * (support staff), are not shown.
 */
export const shownActor = (actor: Actor, { members, removed }: Membership): ActivityEntry["actor"] => {
  if (actor.type !== "user" || members.has(actor.id)) return { type: actor.type, label: actor.label };
  return removed.has(actor.id)
    ? { type: "removed", label: "Removed user" }
    : { type: "support", label: "Support" };
};

/** For a write that needs the user to be a member of the organization still. */
export const notRemoved = condition("#removed = :no", { no: false });

/** For the transaction that creates the user. */
export const addMember = (org: number, user: number): Write => ({
  update: keys.membership(org),
  add: { members: new Set([user]) },
});

/** For the transaction that removes the user. */
export const removeMember = (org: number, user: number): Write => ({
  update: keys.membership(org),
  add: { removed: new Set([user]) },
  take: { members: new Set([user]) },
});
