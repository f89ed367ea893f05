import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count } from "../../shared/contract/page.ts";
import { findingFilter } from "../../shared/findings/acknowledgements/acknowledgement-schema.ts";
import { emailFilter } from "../../shared/monitoring/emails/email-schema.ts";
import { listActivity } from "../list-activity/endpoint.ts";

const { limit: _, offset: __, ...activityFilters } = listActivity.query.shape;

/** Others read it in the log. */
const q = emailFilter.shape.q;

const rows = count.check(z.meta({ description: "How many rows the file has" }));

export const recordExport = defineEndpoint({
  summary: "Put an export of a list into the activity log",
  description:
    "The page makes files of lists by itself, from their pages. It tells of a file before it hands it over. " +
    "Reading pages alone is no export.",
  access: "user",
  body: z.discriminatedUnion("list", [
    z.object({ list: z.literal("findings"), filter: findingFilter, rows }),
    z.object({ list: z.literal("emails"), filter: emailFilter, rows }),
    z.object({ list: z.literal("activity"), filter: z.strictObject({ ...activityFilters, q }), rows }),
  ]),
  status: 201,
  uses: ["table:read", "table:write"],
});
