import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";

export const startScan = defineEndpoint({
  summary: "Start a breach scan",
  status: 201,
  reply: z.object({
    success: z.boolean(),
    scanJobId: idField.check(z.meta({ description: "The scan's id" })),
  }),
  refusals: ["scanInProgress", "noActiveEmails", "scanNotQueued"],
  limit: "scans",
  counted: "by handler",
  repeatable: true,
  uses: ["table:read", "table:write", "queue:scan-plans"],
});
