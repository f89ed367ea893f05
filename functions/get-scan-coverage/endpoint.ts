import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";
import { scanCoverage } from "../../shared/scanning/coverage-schema.ts";

export const getScanCoverage = defineEndpoint({
  summary: "See what a scan of the last 365 days checked, and what not and why",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: scanCoverage,
  refusals: ["scanNotFound"],
  uses: ["table:read"],
});
