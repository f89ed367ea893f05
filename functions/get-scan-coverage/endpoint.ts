import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { scanCoverage } from "../../shared/scanning/coverage-schema.ts";

export const getScanCoverage = defineEndpoint({
  summary: "See what a scan of the last 365 days checked, and what not and why",
  path: byId,
  reply: scanCoverage,
  refusals: ["scanNotFound"],
  uses: ["table:read"],
});
