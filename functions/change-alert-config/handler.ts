import * as configure from "../../shared/alerts/configure.ts";
import { serve } from "../../shared/api/serve.ts";
import { changeAlertConfig } from "./endpoint.ts";

export const handler = serve(changeAlertConfig, async ({ org, actor, path, body, count }) => {
  await configure.change(org, path.id, body, actor, count);
  return { ok: true };
});
