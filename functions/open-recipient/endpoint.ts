import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const openRecipient = defineEndpoint({
  summary: "Redirect to the page for unsubscribing",
  description:
    "For mail programs that open the url of `List-Unsubscribe` in a browser. It changes nothing, " +
    "and redirects to the page whatever the token is. HEAD is answered alike.",
  access: "anyone",
  path: z.object({ token: z.string().check(z.maxLength(200)) }),
  status: 303,
  reply: z.object({ location: z.string() }),
  head: true,
  uses: [],
});
