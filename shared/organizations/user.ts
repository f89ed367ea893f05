import { drawId } from "../table/blocks.ts";
import { absent, exists } from "../table/condition.ts";
import { type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import * as session from "./session.ts";

/** A removed user keeps the row: what it did stays in the log, shown as done by a removed user. */
export type User = { id: number; email: string; name: string | null; createdAt: string; removed: boolean };

export const create = async (org: number, input: { email: string; name: string | null }): Promise<User> => {
  const id = await drawId("USER");
  const user: User = { id, ...input, createdAt: new Date().toISOString(), removed: false };
  await table.transact([
    { check: keys.organization(org), if: exists },
    { put: { ...keys.user(org, id), ...user }, if: absent },
  ]);
  return user;
};

export const get = (org: number, id: number): Promise<User | undefined> => table.get(keys.user(org, id));

export const list = async (org: number): Promise<User[]> => {
  const rows = await table.query<User & Key>({ pk: keys.user(org, 0).pk, descending: true });
  return rows.filter((row) => !row.removed).map(({ pk: _, sk: __, ...user }) => user);
};

/** Removes a user and ends its sessions. Throws `ConditionFailed` when there is no such user. */
export const remove = async (org: number, id: number): Promise<void> => {
  await table.update(keys.user(org, id), { set: { removed: true }, if: exists });
  await table.update(keys.removedUsers(org), { add: { ids: new Set([id]) } });
  await session.revokeAllOf(org, id);
};

export const removedUserIds = async (org: number): Promise<Set<number>> =>
  (await table.get<{ ids: Set<number> }>(keys.removedUsers(org)))?.ids ?? new Set();
