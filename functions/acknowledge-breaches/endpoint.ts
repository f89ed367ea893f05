import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";
import {
  acknowledgementRequest,
  matching,
} from "../../shared/findings/acknowledgements/acknowledgement-schema.ts";

export const acknowledgeBreaches = defineEndpoint({
  summary: "Acknowledge many breach findings",
  description:
    "By `ids` or by `filter`, exactly one of them. The findings that match now are acknowledged " +
    "in the background, with the time of this request; findings that are detected later are not " +
    "touched. An organization has one such request or one to reopen at a time. The log has one " +
    "entry for all.",
  body: acknowledgementRequest,
  status: 202,
  reply: z.object({ id: idField, matching }),
  instead: { when: "With `dryRun`: nothing is acknowledged", status: 200, reply: z.object({ matching }) },
  refusals: ["findingNotFound", "acknowledgementInProgress"],
  limit: "acknowledgements",
  uses: ["table:read", "table:write", "queue:acknowledgements"],
  // A filter that asks something of the findings' rows has all blocks counted.
  timeoutSeconds: 29,
});
