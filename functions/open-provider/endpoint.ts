import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const openProvider = defineEndpoint({
  summary: "Begin to sign in by the identity provider",
  description:
    "Answers with the url of the provider's page, and a cookie that binds the attempt to this browser for 15 minutes. The provider leads back to the page `/api/app/sign-in`.",
  access: "anyone",
  reply: z.object({ url: z.string() }),
  refusals: ["noProvider", "providerUnavailable", "providerSlow", "providerMalformed"],
  uses: [],
});
