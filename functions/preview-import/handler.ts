import { readUpload } from "../../shared/api/multipart.ts";
import { serve } from "../../shared/api/serve.ts";
import { extract } from "../../shared/imports/extract.ts";
import { plan } from "../../shared/imports/plan.ts";
import { previewImport } from "./endpoint.ts";

export const handler = serve(
  previewImport,
  async ({ org, file }) => plan(org, extract(await file())),
  readUpload,
);
