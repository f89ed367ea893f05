import { readUpload } from "../../shared/access/api/multipart.ts";
import { serve } from "../../shared/access/api/serve.ts";
import { extract } from "../../shared/monitoring/imports/extract.ts";
import { plan } from "../../shared/monitoring/imports/plan.ts";
import { previewImport } from "./endpoint.ts";

export const handler = serve(
  previewImport,
  async ({ org, file }) => plan(org, extract(await file())),
  readUpload,
);
