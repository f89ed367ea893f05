import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { event } from "../../shared/scanning/event-schema.ts";

export const getEvent = defineEndpoint({
  summary: "See what a webhook's event is about, in full",
  path: byId,
  reply: event,
  refusals: ["eventNotFound"],
  uses: ["table:read"],
});
