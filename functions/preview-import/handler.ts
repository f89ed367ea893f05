import { readUpload } from "../../shared/access/api/multipart.ts";
import { serve } from "../../shared/access/api/serve.ts";
import { extract } from "../../shared/monitoring/imports/extract.ts";
import { plan } from "../../shared/monitoring/imports/plan.ts";
import { previewImport } from "./endpoint.ts";

export const handler = serve(
  previewImport,
  async ({ org, query: { include }, file }) => {
    const { found, columns } = extract(await file());
    return { ...(await plan(org, found)), ...(include === "columns" && { columns }) };
  },
  readUpload,
);
