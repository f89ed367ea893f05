import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { booleanParameter } from "../../shared/contract/page.ts";

export const openProvider = defineEndpoint({
  summary: "Begin to sign in by the identity provider",
  description:
    "Answers with the url of the provider's page, and a cookie that binds the attempt to this " +
    "browser for 15 minutes. The provider leads back to the page `/api/app/sign-in`. With " +
    "`chooseAccount=true` the provider is asked to let people choose their account, if it can.",
  access: "anyone",
  query: z.object({ chooseAccount: z.optional(booleanParameter("chooseAccount")) }),
  reply: z.object({ url: z.string() }),
  refusals: ["noProvider", "providerUnavailable", "providerSlow", "providerMalformed"],
  uses: ["table:write"],
});
