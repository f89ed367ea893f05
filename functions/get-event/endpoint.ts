import { event } from "../../shared/alerting/event-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const getEvent = defineEndpoint({
  summary: "See what a webhook's event is about, in full",
  path: byId,
  reply: event,
  refusals: ["eventNotFound"],
  uses: ["table:read"],
});
