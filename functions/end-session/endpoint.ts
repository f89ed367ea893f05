import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const endSession = defineEndpoint({
  summary: "Sign out",
  description: "The session ends at once. Also answers when the subscription has lapsed.",
  access: "user",
  whenLapsed: "answers",
  status: 200,
  reply: z.object({ success: z.boolean() }),
  refusals: [],
  cookie: "cleared",
  uses: ["table:write", "table:write:identities"],
});
