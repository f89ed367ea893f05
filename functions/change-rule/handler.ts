import { serve } from "../../shared/access/api/serve.ts";
import * as switches from "../../shared/findings/rules/switches.ts";
import { changeRule } from "./endpoint.ts";

export const handler = serve(changeRule, async ({ org, actor, path: { id }, body: { isOn } }) => ({
  id,
  ...(await switches.change(org, id, isOn, actor)),
}));
