import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";
import { acknowledgement } from "../../shared/findings/acknowledgements/acknowledgement-schema.ts";

export const getAcknowledgement = defineEndpoint({
  summary: "See how far a request to acknowledge many findings is",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: acknowledgement,
  refusals: ["acknowledgementNotFound"],
  uses: ["table:read"],
});
