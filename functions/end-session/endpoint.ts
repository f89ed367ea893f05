import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const endSession = defineEndpoint({
  summary: "Sign out",
  description: "The session ends at once. Also answers when the subscription has lapsed.",
  access: "user",
  whenLapsed: "answers",
  cookie: "cleared",
  uses: ["table:write", "table:write:identities"],
});
