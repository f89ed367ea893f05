import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";
import { retention } from "../../shared/contract/retention.ts";
import { scan, scanStatus, scanType } from "../../shared/scanning/scan-schema.ts";

export const listScans = defineEndpoint({
  summary: "List the scans of the last 365 days, newest first",
  query: z.object({
    ...pageQuery,
    type: z.optional(scanType).check(z.meta({ description: "Only scans of this type" })),
    status: z.optional(scanStatus).check(z.meta({ description: "Only scans in this state" })),
  }),
  reply: z.object({ scans: z.array(scan), total, retention }),
  uses: ["table:read"],
});
