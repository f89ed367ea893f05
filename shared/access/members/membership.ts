import { condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { ActivityEntry } from "../activity/activity-schema.ts";
import type { Actor } from "../activity/actor.ts";

/** By the ids of all that are or were users of the organization: whether the user was removed. */
export type Membership = ReadonlyMap<number, boolean>;

export const membership = async (org: number): Promise<Membership> => {
  const rows = await table.query<{ id: number; removed: boolean }>({
    pk: keys.user(org, 0).pk,
    project: ["id", "removed"],
  });
  return new Map(rows.map(({ id, removed }) => [id, removed]));
};

type Member = { id: number; email: string; name: string | null };

/** Those of these users who are members, by id. A read unit each. */
export const membersById = async (org: number, ids: Iterable<number>): Promise<Map<number, Member>> => {
  const rows = await table.getMany<Member & { removed: boolean }>(
    [...new Set(ids)].map((id) => keys.user(org, id)),
  );
  return new Map(
    rows.flatMap((row): [number, Member][] => (row === undefined || row.removed ? [] : [[row.id, row]])),
  );
};

/** What people call members, by id. The activity log names them by their addresses, which can be erased. */
export const labelsOf = (members: ReadonlyMap<number, Member>): Map<number, string> =>
  new Map([...members].map(([id, { name, email }]) => [id, name ?? email]));

/**
 * The actor as clients see it. Name and address of removed users, and of users who were never members
 * (support staff), are not shown.
 */
export const shownActor = (actor: Actor, users: Membership): ActivityEntry["actor"] => {
  const wasRemoved = actor.type === "user" ? users.get(actor.id) : false;
  if (wasRemoved === undefined) return { type: "support", label: "Support" };
  return wasRemoved ? { type: "removed", label: "Removed user" } : { type: actor.type, label: actor.label };
};

/** For a write that needs the user to be a member of the organization still. */
export const notRemoved = condition("#removed = :no", { no: false });

/** For a write that needs the user to be an admin of the organization still. */
export const isAdmin = condition("#removed = :no AND #role = :admin", { no: false, admin: "admin" });

/** For a write that needs the user never to have signed in. */
export const notJoined = condition("attribute_not_exists(#joinedAt)");
