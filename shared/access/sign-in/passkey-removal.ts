/** Removing a passkey, which needs no library. */
import { asRead } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as activity from "../activity/activity.ts";
import type { Actor } from "../activity/actor.ts";
import * as users from "../members/user.ts";
import { newNotices } from "../notices/notice.ts";

/**
 * Removes a passkey of a user, who is told by e-mail: the very next sign-in by it is refused. "unknown": the
 * user has none with this id.
 */
export const remove = async (
  org: number,
  userId: number,
  id: string,
  actor: Actor,
): Promise<"removed" | "unknown"> => {
  const user = await users.get(org, userId);
  const passkey = user?.passkeys?.[id];
  if (user === undefined || passkey === undefined) return "unknown";
  const path = `passkeys.${id}`;
  const isThere = asRead({ [`${path}.createdAt`]: passkey.createdAt });
  const { createdAt, browser } = passkey;
  const isOwn = actor.type === "user" && actor.id === userId;
  const whose = isOwn ? "" : ` of ${user.email}`;
  const where = browser === undefined ? "" : ` from ${browser}`;
  const notices = newNotices(org, [user]);
  const slot = await activity.slot(org);
  const { written } = await table.attempt(
    table.transact([
      { update: keys.user(org, userId), remove: [path], if: isThere },
      ...notices.writes({
        about: "passkey",
        change: "removed",
        createdAt,
        ...(browser !== undefined && { browser }),
      }),
      ...activity.writes(org, slot, {
        action: "passkey.removed",
        summary: `Removed a passkey${whose}${where}`,
        actor,
      }),
    ]),
  );
  if (!written) return "unknown";
  await notices.send();
  return "removed";
};
