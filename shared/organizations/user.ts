import { drawId } from "../table/blocks.ts";
import { absent, condition, exists } from "../table/condition.ts";
import { type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import * as session from "./session.ts";

/** A removed user keeps the row: what it did stays in the log, shown as done by a removed user. */
export type User = { id: number; email: string; name: string | null; createdAt: string; removed: boolean };

/** `exists`: a user who is not removed has this address. */
export const create = async (
  org: number,
  input: { email: string; name: string | null },
): Promise<User | "exists"> => {
  const id = await drawId("USER");
  const user: User = { id, ...input, createdAt: new Date().toISOString(), removed: false };
  try {
    await table.transact([
      { check: keys.organization(org), if: exists },
      { put: { ...keys.userEmail(org, user.email), id }, if: absent },
      { put: { ...keys.user(org, id), ...user }, if: absent },
      { update: keys.membership(org), add: { members: new Set([id]) } },
    ]);
    return user;
  } catch (error) {
    if (error instanceof table.TransactionRefused && error.refused(1)) return "exists";
    throw error;
  }
};

export const get = (org: number, id: number): Promise<User | undefined> => table.get(keys.user(org, id));

export const list = async (org: number): Promise<User[]> => {
  const rows = await table.query<User & Key>({ pk: keys.user(org, 0).pk, descending: true });
  return rows.filter((row) => !row.removed).map(({ pk: _, sk: __, ...user }) => user);
};

/** For the transaction of a write that relies on a user. */
export const notRemoved = condition("#removed = :no", { no: false });

/** Removes a user and ends its sessions. Removing again ends what is left of them. */
export const remove = async (org: number, id: number): Promise<"removed" | "already" | "unknown"> => {
  const user = await get(org, id);
  if (user === undefined) return "unknown";
  const outcome = user.removed ? "already" : await markRemoved(org, user);
  await session.revokeAllOf(org, id);
  return outcome;
};

const markRemoved = async (org: number, { id, email }: User): Promise<"removed" | "already"> => {
  try {
    await table.transact([
      { update: keys.user(org, id), set: { removed: true }, if: notRemoved },
      { delete: keys.userEmail(org, email) },
      {
        update: keys.membership(org),
        add: { removed: new Set([id]) },
        take: { members: new Set([id]) },
      },
    ]);
    return "removed";
  } catch (error) {
    // Somebody else removed the user in between.
    if (error instanceof table.TransactionRefused) return "already";
    throw error;
  }
};

export type Membership = { members: ReadonlySet<number>; removed: ReadonlySet<number> };

/** Who is, and who was, a user of the organization. */
export const membership = async (org: number): Promise<Membership> => {
  const row = await table.get<Partial<Membership>>(keys.membership(org));
  return { members: row?.members ?? new Set(), removed: row?.removed ?? new Set() };
};
