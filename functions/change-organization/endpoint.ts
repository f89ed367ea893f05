import * as z from "zod/mini";
import { organizationName, scanFrequency } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { notEmpty } from "../../shared/contract/patch.ts";

export const changeOrganization = defineEndpoint({
  summary: "Change the organization's name or how often it is scanned",
  access: "admin",
  body: z
    .object({ name: z.optional(organizationName), scanEvery: z.optional(scanFrequency) })
    .check(notEmpty),
  uses: ["table:read", "table:write", "table:write:organizations", "schedules", "schedule-role"],
});
