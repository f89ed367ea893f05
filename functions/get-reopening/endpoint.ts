import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { reopening } from "../../shared/findings/acknowledgements/acknowledgement-schema.ts";

export const getReopening = defineEndpoint({
  summary: "See how far a request to reopen many findings is",
  path: byId,
  reply: reopening,
  refusals: ["reopeningNotFound"],
  uses: ["table:read"],
});
