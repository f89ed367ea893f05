import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count, pageQuery, total } from "../../shared/contract/page.ts";
import { domain } from "../../shared/monitoring/domains/domain-schema.ts";

export const listDomains = defineEndpoint({
  summary: "List the domains, newest first",
  access: "user",
  query: z.object(pageQuery),
  reply: z.object({
    domains: z.array(domain),
    total,
    unwatched: count.check(
      z.meta({ description: "Breached addresses of the domains that nobody watches, without ignored ones" }),
    ),
  }),
  uses: ["table:read"],
});
