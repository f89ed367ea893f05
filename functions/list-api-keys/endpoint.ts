import * as z from "zod/mini";
import { apiKey } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";

export const listApiKeys = defineEndpoint({
  summary: "List the API keys, newest first, including revoked and ended ones",
  access: "admin",
  query: z.object(pageQuery),
  reply: z.object({ apiKeys: z.array(apiKey), total }),
  uses: ["table:read"],
});
