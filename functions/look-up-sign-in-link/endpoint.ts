import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";
import { textSuchAs } from "../../shared/contract/text.ts";
import { redeemSignInLink } from "../redeem-sign-in-link/endpoint.ts";

export const lookUpSignInLink = defineEndpoint({
  summary: "Say whom a sign-in link signs in, and to what",
  description: "Changes nothing: the link stays good.",
  access: "anyone",
  body: z.object({ token: redeemSignInLink.body.shape.token }),
  malformed: { token: "invalidLink" },
  status: 200,
  reply: z.object({
    email: textSuchAs("ada@demo.example"),
    organizations: z
      .array(z.object({ id: idField, name: textSuchAs("Acme") }))
      .check(z.meta({ description: "One of these has to be chosen" })),
  }),
  refusals: ["invalidLink"],
  uses: ["table:read"],
});
