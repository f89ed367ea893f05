import { serve } from "../../shared/access/api/serve.ts";
import * as apiKeys from "../../shared/access/keys/api-key.ts";
import { createApiKey } from "./endpoint.ts";

export const handler = serve(createApiKey, ({ org, actor, body, repeat }) =>
  apiKeys.create(org, body.label, actor, repeat.remember),
);
