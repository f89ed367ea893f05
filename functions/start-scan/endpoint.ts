import * as z from "zod";
import { defineEndpoint } from "../../shared/api/endpoint.ts";

export const startScan = defineEndpoint({
  summary: "Start a breach scan",
  status: 201,
  reply: z.object({ success: z.boolean(), scanJobId: z.int() }),
  refusals: ["scanInProgress", "noActiveEmails", "scanNotQueued"],
  limit: "scans",
  uses: ["table:read", "table:write", "queue:scan-plans"],
});
