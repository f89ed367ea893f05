/** Removing a passkey, which needs no library. */
import { asRead } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as users from "../members/user.ts";
import { newNotices } from "../notices/notice.ts";

/**
 * Removes a passkey of a user, who is told by e-mail: the very next sign-in by it is refused. "unknown": the
 * user has none with this id.
 */
export const remove = async (org: number, userId: number, id: string): Promise<"removed" | "unknown"> => {
  const user = await users.get(org, userId);
  const passkey = user?.passkeys?.[id];
  if (user === undefined || passkey === undefined) return "unknown";
  const path = `passkeys.${id}`;
  const isThere = asRead({ [`${path}.createdAt`]: passkey.createdAt });
  const { createdAt, browser } = passkey;
  const notices = newNotices(org, [user]);
  const { written } = await table.attempt(
    table.transact([
      { update: keys.user(org, userId), remove: [path], if: isThere },
      ...notices.writes({
        about: "passkey",
        change: "removed",
        createdAt,
        ...(browser !== undefined && { browser }),
      }),
    ]),
  );
  if (!written) return "unknown";
  await notices.send();
  return "removed";
};
