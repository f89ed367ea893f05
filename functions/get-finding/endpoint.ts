import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";
import { detailedFinding } from "../../shared/findings/finding-schema.ts";

export const getFinding = defineEndpoint({
  summary: "Show a breach finding in full",
  access: "user",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: detailedFinding,
  refusals: ["findingNotFound"],
  uses: ["table:read"],
});
