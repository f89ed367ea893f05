import type * as z from "zod/mini";
import { recordExport as record } from "../../shared/access/activity/exports.ts";
import * as log from "../../shared/access/activity/log.ts";
import { serve } from "../../shared/access/api/serve.ts";
import * as ofFindings from "../../shared/findings/acknowledgements/filter-words.ts";
import * as ofEmails from "../../shared/monitoring/emails/filter-words.ts";
import { recordExport } from "./endpoint.ts";

const filterInWords = (org: number, body: z.output<typeof recordExport.body>): Promise<string> => {
  switch (body.list) {
    case "findings":
      return ofFindings.filterInWords(org, body.filter);
    case "emails":
      return ofEmails.filterInWords(org, body.filter);
    case "activity":
      return log.filterInWords(org, body.filter);
  }
};

export const handler = serve(recordExport, async ({ org, actor, body }) => {
  await record(org, body, filterInWords(org, body), actor);
});
