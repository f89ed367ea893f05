import { serve } from "../../shared/access/api/serve.ts";
import { requestLink } from "../../shared/access/sign-in/request.ts";
import { createSignInLink } from "./endpoint.ts";

export const handler = serve(createSignInLink, ({ body }) => requestLink(body.email));
