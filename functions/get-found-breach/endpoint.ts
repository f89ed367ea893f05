import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idParameter } from "../../shared/contract/page.ts";
import { foundBreach } from "../../shared/findings/breach-schema.ts";

export const getFoundBreach = defineEndpoint({
  summary: "Show a breach that the organization has findings of",
  access: "user",
  path: z.object({ id: idParameter("id") }),
  status: 200,
  reply: foundBreach,
  refusals: ["breachNotFound"],
  uses: ["table:read"],
});
