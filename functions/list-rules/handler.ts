import { serve } from "../../shared/access/api/serve.ts";
import * as ruleList from "../../shared/findings/rules/rule-list.ts";
import { listRules } from "./endpoint.ts";

export const handler = serve(listRules, async ({ org }) => ({ rules: await ruleList.list(org, new Date()) }));
