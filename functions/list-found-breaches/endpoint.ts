import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { total } from "../../shared/contract/page.ts";
import { foundBreach, foundBreachQuery } from "../../shared/findings/breach-schema.ts";

export const listFoundBreaches = defineEndpoint({
  summary:
    "List the breaches that the organization has findings of, or addresses that nobody watches, worst first " +
    "unless `order` says otherwise",
  access: "user",
  query: z.object(foundBreachQuery),
  reply: z.object({ breaches: z.array(foundBreach), total }),
  uses: ["table:read"],
});
