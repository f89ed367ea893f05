import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { organization } from "../../shared/organizations/schema.ts";

export const getOrganization = defineEndpoint({
  summary: "Show the organization",
  access: "user",
  status: 200,
  reply: organization,
  refusals: [],
  uses: ["table:read"],
});
