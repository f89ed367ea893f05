import { serve } from "../../shared/access/api/serve.ts";
import * as coverage from "../../shared/scanning/coverage.ts";
import { getScanCoverage } from "./endpoint.ts";

export const handler = serve(getScanCoverage, ({ org, path }) => coverage.get(org, path.id, new Date()));
