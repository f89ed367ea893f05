import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { overview } from "../../shared/scanning/overview/overview-schema.ts";

export const getOverview = defineEndpoint({
  summary: "Show the state of the organization at a glance",
  description: "Its cost does not grow with the number of findings.",
  access: "user",
  status: 200,
  reply: overview,
  refusals: [],
  uses: ["table:read"],
});
