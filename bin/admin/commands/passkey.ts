import { administrator } from "../../../shared/access/activity/actor.ts";
import * as users from "../../../shared/access/members/user.ts";
import { remove } from "../../../shared/access/sign-in/passkey-removal.ts";
import { passkeyId } from "../../../shared/access/sign-in/passkey-schema.ts";
import type { Commands } from "../command.ts";
import { CommandError } from "../error.ts";
import { findUser, parse } from "../flags.ts";

export const passkeyCommands: Commands = {
  "passkey list": {
    about: "Lists the passkeys of a user, newest first.",
    flags: { org: "required ID", user: "required ID" },
    run: async (flags) => {
      const { user } = await findUser(flags);
      return {
        passkeys: users.passkeysOf(user).map(({ browser = null, ...passkey }) => ({ ...passkey, browser })),
      };
    },
  },
  "passkey remove": {
    about:
      "Removes a passkey of a user, who is told by e-mail within ten minutes. The next sign-in " +
      "with it is refused; sessions go on.",
    flags: { org: "required ID", user: "required ID", passkey: "required ID" },
    isAct: true,
    run: async (flags) => {
      const { org, user } = await findUser(flags);
      const id = parse("passkey", passkeyId, flags.passkey);
      if ((await remove(org, user.id, id, administrator)) === "unknown")
        throw new CommandError(
          `The user has no passkey ${id}: "passkey list --org ${org} --user ${user.id}" lists those that there are.`,
        );
      return { id, removed: true };
    },
  },
};
