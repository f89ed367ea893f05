import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { acknowledgement } from "../../shared/findings/acknowledgements/acknowledgement-schema.ts";

export const getAcknowledgement = defineEndpoint({
  summary: "See how far a request to acknowledge many findings is",
  path: byId,
  reply: acknowledgement,
  refusals: ["acknowledgementNotFound"],
  uses: ["table:read"],
});
