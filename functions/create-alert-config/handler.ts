import * as configure from "../../shared/alerts/configure.ts";
import { serve } from "../../shared/api/serve.ts";
import { createAlertConfig } from "./endpoint.ts";

export const handler = serve(createAlertConfig, async ({ org, actor, body, count }) => ({
  id: await configure.create(org, body, actor, count),
}));
