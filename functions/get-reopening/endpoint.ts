import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";
import { reopening } from "../../shared/findings/acknowledgements/acknowledgement-schema.ts";

export const getReopening = defineEndpoint({
  summary: "See how far a request to reopen many findings is",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: reopening,
  refusals: ["reopeningNotFound"],
  uses: ["table:read"],
});
