import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { domain, domainName } from "../../shared/monitoring/domains/domain-schema.ts";

export const addDomain = defineEndpoint({
  summary: "Add a domain, to be proved by a DNS record",
  description:
    "Public suffixes and providers of mailboxes are refused. A domain starts unverified; its `record` proves it.",
  access: "admin",
  body: z.object({ name: domainName }),
  status: 201,
  reply: domain,
  refusals: ["domainNotAllowed", "domainExists"],
  uses: ["table:read", "table:write", "table:write:domains"],
});
