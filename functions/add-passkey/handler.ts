import { ownOrigin } from "../../shared/access/api/credential.ts";
import { serve } from "../../shared/access/api/serve.ts";
import { visitOf } from "../../shared/access/sessions/browser.ts";
import * as passkeys from "../../shared/access/sign-in/passkey.ts";
import { addPasskey } from "./endpoint.ts";

export const handler = serve(addPasskey, ({ org, actor, session, body, event }) =>
  passkeys.add(org, actor, body.answer, {
    session: session.hash,
    origin: ownOrigin(event),
    browser: visitOf(event).browser,
  }),
);
