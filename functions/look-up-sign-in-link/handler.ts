import { serve } from "../../shared/access/api/serve.ts";
import * as links from "../../shared/access/sign-in/link.ts";
import { lookUpSignInLink } from "./endpoint.ts";

export const handler = serve(lookUpSignInLink, ({ body }) => links.lookUp(body.token));
