import { ownOrigin } from "../../shared/access/api/credential.ts";
import { serve } from "../../shared/access/api/serve.ts";
import { visitOf } from "../../shared/access/sessions/browser.ts";
import * as passkeys from "../../shared/access/sign-in/passkey.ts";
import { remove } from "../../shared/access/sign-in/passkey-removal.ts";
import { changePasskeys } from "./endpoint.ts";

export const handler = serve(changePasskeys, async ({ org, actor, session, body, event }) => {
  const origin = ownOrigin(event);
  switch (body.action) {
    case "begin":
      return { success: true, options: await passkeys.begin(org, actor.id, session.hash, origin) };
    case "add":
      await passkeys.add(org, actor.id, body.answer, {
        session: session.hash,
        origin,
        browser: visitOf(event).browser,
      });
      return { success: true };
    case "remove":
      await remove(org, actor.id, body.id);
      return { success: true };
  }
});
