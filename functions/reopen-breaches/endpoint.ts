import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";
import { matching, reopeningRequest } from "../../shared/findings/acknowledgements/acknowledgement-schema.ts";

export const reopenBreaches = defineEndpoint({
  summary: "Reopen many breach findings",
  description:
    "By `ids` or by `filter`, exactly one of them. The acknowledged findings that match now are " +
    "reopened in the background: who acknowledged them, when, how and why is forgotten. An " +
    "organization has one such request or one to acknowledge at a time. The log has one entry " +
    "for all.",
  body: reopeningRequest,
  status: 202,
  reply: z.object({ id: idField, matching }),
  instead: { when: "With `dryRun`: nothing is reopened", status: 200, reply: z.object({ matching }) },
  refusals: ["findingNotFound", "acknowledgementInProgress"],
  limit: "acknowledgements",
  uses: ["table:read", "table:write", "queue:acknowledgements"],
  // A filter that asks something of the findings' rows has all blocks counted.
  timeoutSeconds: 29,
});
