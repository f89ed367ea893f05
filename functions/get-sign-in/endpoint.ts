import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const getSignIn = defineEndpoint({
  summary: "How one can sign in",
  access: "anyone",
  reply: z.object({
    mail: z.boolean().check(
      z.meta({
        description: "Whether sign-in links can be sent by e-mail; if not, the operator makes one",
      }),
    ),
    provider: z.nullable(z.object({ name: z.string(), issuer: z.string() })).check(
      z.meta({
        description: "The identity provider that people can sign in by, and its url; null: there is none",
      }),
    ),
  }),
  uses: [],
});
