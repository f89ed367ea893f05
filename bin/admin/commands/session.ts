import * as sessions from "../../../shared/access/sessions/session.ts";
import type { Commands } from "../command.ts";
import { findOrganization, findUser, notFound, parseId } from "../flags.ts";

export const sessionCommands: Commands = {
  "session create": {
    about:
      "Creates a session of a user, which ends as those of people do, and prints its cookie, " +
      "this once. People sign in to the dashboard instead: this is for tests of the API.",
    flags: { org: "required ID", user: "required ID" },
    isAct: true,
    run: async (flags, stack) => {
      const { org, user } = await findUser(flags);
      const { id, value, expiresAt } = await sessions.create(org, user);
      return {
        id,
        userId: user.id,
        expiresAt,
        // Browsers accept the `__Host-` prefix over HTTPS only.
        cookie: `${stack.isLocal ? "session" : "__Host-session"}=${value}`,
      };
    },
  },
  "session list": {
    about: "Lists the sessions that have not expired, newest first.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      return { sessions: (await sessions.list(org, new Date())).map(shown) };
    },
  },
  "session revoke": {
    about: "Ends a session.",
    flags: { org: "required ID", session: "required ID" },
    isAct: true,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const id = parseId("session", flags);
      if ((await sessions.revoke(org, id)) === "unknown") throw notFound("session", id);
      return { id, revoked: true };
    },
  },
};

const shown = (session: sessions.ListedSession) => ({
  id: session.id,
  userId: session.userId,
  email: session.userLabel,
  createdAt: session.createdAt,
  createdBy: sessions.createdBy(session),
  expiresAt: session.expiresAt,
});
