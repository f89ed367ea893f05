import { recordExport as record } from "../../shared/access/activity/exports.ts";
import * as log from "../../shared/access/activity/log.ts";
import { serve } from "../../shared/access/api/serve.ts";
import { filterInWords } from "../../shared/findings/acknowledgements/filter-words.ts";
import { recordExport } from "./endpoint.ts";

export const handler = serve(recordExport, async ({ org, actor, body }) => {
  const about =
    body.list === "findings" ? filterInWords(org, body.filter) : log.filterInWords(org, body.filter);
  await record(org, body, about, actor);
});
