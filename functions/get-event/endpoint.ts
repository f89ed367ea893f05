import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";
import { event } from "../../shared/scanning/event-schema.ts";

export const getEvent = defineEndpoint({
  summary: "See what a webhook's event is about, in full",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: event,
  refusals: ["eventNotFound"],
  uses: ["table:read"],
});
