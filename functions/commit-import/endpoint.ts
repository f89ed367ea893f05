import * as z from "zod";
import { defineEndpoint } from "../../shared/api/endpoint.ts";
import { importPlan } from "../../shared/imports/schema.ts";

export const commitImport = defineEndpoint({
  summary: "Import e-mail addresses as previewed",
  body: importPlan,
  status: 200,
  reply: z.object({
    success: z.boolean(),
    importedCount: z.int(),
    disabledCount: z.int(),
    skippedCount: z.int(),
  }),
  refusals: ["nothingToImport", "quoteMismatch"],
  limit: "importCommits",
  uses: ["table:read", "table:write"],
  timeoutSeconds: 29,
  memoryMegabytes: 512,
});
