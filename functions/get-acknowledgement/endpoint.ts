import * as z from "zod/mini";
import { acknowledgement } from "../../shared/acknowledgements/schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";

export const getAcknowledgement = defineEndpoint({
  summary: "See how far a request to acknowledge many findings is",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: acknowledgement,
  refusals: ["acknowledgementNotFound"],
  uses: ["table:read"],
});
