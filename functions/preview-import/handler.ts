import { readUpload } from "../../shared/access/api/multipart.ts";
import { serve } from "../../shared/access/api/serve.ts";
import { extract } from "../../shared/monitoring/imports/extract.ts";
import { plan } from "../../shared/monitoring/imports/plan.ts";
import { previewImport } from "./endpoint.ts";

export const handler = serve(
  previewImport,
  async ({ org, query: { include, leaveOut }, file }) => {
    const { candidates, columns } = extract(await file());
    const departed = new Set(leaveOut === "departed" ? columns.departed.map(({ email }) => email) : []);
    const wanted = candidates.filter(({ email }) => !departed.has(email));
    return { ...(await plan(org, wanted)), ...(include === "columns" && { columns }) };
  },
  readUpload,
);
