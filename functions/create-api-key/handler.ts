import { serve } from "../../shared/access/api/serve.ts";
import * as apiKeys from "../../shared/access/keys/api-key.ts";
import { newNoticesToAdmins } from "../../shared/access/notices/notice.ts";
import { createApiKey } from "./endpoint.ts";

export const handler = serve(createApiKey, async ({ org, actor, body, repeat }) => {
  const notices = await newNoticesToAdmins(org);
  const created = await apiKeys.create(org, body, actor, (key) => [
    ...repeat.remember(key),
    ...notices.writes({ about: "api_key", ...body, by: actor.label }),
  ]);
  await notices.send();
  return created;
});
