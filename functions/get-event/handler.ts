import { serve } from "../../shared/access/api/serve.ts";
import * as events from "../../shared/alerting/event.ts";
import { getEvent } from "./endpoint.ts";

export const handler = serve(getEvent, ({ org, path }) => events.get(org, path.id, new Date()));
