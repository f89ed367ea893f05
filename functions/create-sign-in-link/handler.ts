import { serve } from "../../shared/api/serve.ts";
import { requestLink } from "../../shared/sign-in/request.ts";
import { createSignInLink } from "./endpoint.ts";

export const handler = serve(createSignInLink, async ({ body }) => {
  await requestLink(body.email);
  return { success: true };
});
