import * as z from "zod/mini";
import {
  organizationName,
  scanFrequency,
  timeZone,
} from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { notEmpty } from "../../shared/contract/patch.ts";

export const changeOrganization = defineEndpoint({
  summary: "Change the organization's name, how often it is scanned, or its time zone",
  access: "admin",
  body: z
    .object({
      name: z.optional(organizationName),
      scanEvery: z.optional(scanFrequency),
      timeZone: z.optional(timeZone),
    })
    .check(notEmpty),
  uses: ["table:read", "table:write", "table:write:organizations", "schedules", "schedule-role"],
});
