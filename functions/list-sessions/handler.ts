import { serve } from "../../shared/access/api/serve.ts";
import * as users from "../../shared/access/members/user.ts";
import * as sessions from "../../shared/access/sessions/session.ts";
import { listSessions } from "./endpoint.ts";

export const handler = serve(listSessions, async ({ org, actor, session, query: { limit, offset } }) => {
  const [all, user] = await Promise.all([sessions.list(org, new Date(), actor.id), users.get(org, actor.id)]);
  return {
    sessions: all.slice(offset, offset + limit).map((each) => ({
      id: each.id,
      createdAt: each.createdAt,
      lastUsedAt: each.lastUsedAt,
      expiresAt: each.expiresAt,
      isCurrent: each.id === session.id,
      createdBy: sessions.createdBy(each),
      ...(each.browser !== undefined && { browser: each.browser }),
    })),
    total: all.length,
    passkeys: user === undefined ? [] : users.passkeysOf(user),
  };
});
