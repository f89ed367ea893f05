import { removeWithHistory } from "../../shared/alerts/history.ts";
import { serve } from "../../shared/api/serve.ts";
import { deleteAlertConfig } from "./endpoint.ts";

export const handler = serve(deleteAlertConfig, async ({ org, actor, path }) => {
  await removeWithHistory(org, path.id, actor);
  return { ok: true };
});
