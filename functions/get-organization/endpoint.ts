import { organization } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const getOrganization = defineEndpoint({
  summary: "Show the organization",
  access: "user",
  reply: organization,
  uses: ["table:read"],
});
