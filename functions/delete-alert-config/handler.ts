import { serve } from "../../shared/access/api/serve.ts";
import { remove } from "../../shared/alerting/channels/remove.ts";
import { deleteAlertConfig } from "./endpoint.ts";

export const handler = serve(deleteAlertConfig, async ({ org, actor, path }) => {
  await remove(org, path.id, actor);
  return { ok: true };
});
