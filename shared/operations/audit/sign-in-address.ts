import * as users from "../../access/members/user.ts";
import { asRead } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Inspection, Problem } from "./inspector.ts";

type Row = { organizationId: number; userId: number };

/**
 * The row by which an address finds its organizations must name the user who has the address there.
 */
export const inspectSignInAddress =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const user = await users.get(org, id);
    if (user === undefined || user.removed) return undefined;
    const key = keys.signInAddress(user.email, org);
    const row = await table.get<Row>(key);
    if (row?.userId === id && row.organizationId === org) return undefined;
    return {
      says: row === undefined ? "nobody finds it by its address" : `its address finds user ${row.userId}`,
      repair: () =>
        table.transact([
          { check: keys.user(org, id), if: users.notRemoved },
          {
            update: key,
            set: { organizationId: org, userId: id },
            if: asRead({ userId: row?.userId, organizationId: row?.organizationId }),
          },
        ]),
    };
  };

/** No address may find a removed user. */
export const inspectRemovedUser =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const user = await table.get<users.User & Key>(keys.user(org, id));
    if (user?.removed !== true) return undefined;
    const key = keys.signInAddress(user.email, org);
    if ((await table.get<Row>(key))?.userId !== id) return undefined;
    return {
      says: "its address finds it although it is removed",
      repair: () => table.remove(key, asRead({ userId: id })),
    };
  };
