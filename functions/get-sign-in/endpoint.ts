import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const getSignIn = defineEndpoint({
  summary: "How one can sign in",
  access: "anyone",
  status: 200,
  reply: z.object({
    mail: z.boolean().check(
      z.meta({
        description: "Whether sign-in links can be sent by e-mail; if not, the operator makes one",
      }),
    ),
  }),
  refusals: [],
  uses: ["mail-setting"],
});
