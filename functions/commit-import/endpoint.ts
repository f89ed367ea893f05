import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count } from "../../shared/contract/page.ts";
import { importPlan } from "../../shared/monitoring/imports/import-schema.ts";

export const commitImport = defineEndpoint({
  summary: "Import e-mail addresses as previewed",
  body: importPlan,
  reply: z.object({
    success: z.boolean(),
    importedCount: count.check(z.meta({ description: "All that were imported" })),
    disabledCount: count.check(
      z.meta({ description: "Those of them that are disabled, beyond the seat allowance" }),
    ),
    skippedCount: count,
  }),
  refusals: ["nothingToImport", "quoteMismatch"],
  limit: "importCommits",
  uses: ["table:read", "table:write", "table:check:domains"],
  timeoutSeconds: 29,
});
