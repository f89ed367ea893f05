import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const checkDomain = defineEndpoint({
  summary: "Look up a domain's DNS record now",
  access: "admin",
  path: byId,
  reply: z.object({
    isVerified: z.boolean(),
    found: z
      .array(z.string())
      .check(z.meta({ description: "The values of the TXT records at the record's name" })),
    foundAt: z.optional(
      z.string().check(
        z.meta({
          description:
            "Another name at which the record stands, which proves nothing: forms of DNS " +
            "providers add the zone to what is typed",
          examples: ["_breach-monitor.demo.example.demo.example"],
        }),
      ),
    ),
  }),
  refusals: ["domainNotFound", "domainTaken", "dnsUnavailable"],
  // Whoever loses the name is told by its alert channels.
  uses: ["table:read", "table:write", "table:write:domains", "queue:outbox", "queue:directory-changes"],
});
