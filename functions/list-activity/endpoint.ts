import * as z from "zod/mini";
import { activityEntry, category } from "../../shared/access/activity/activity-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";
import { retention } from "../../shared/contract/retention.ts";

export const listActivity = defineEndpoint({
  summary: "List the account activity of the last 365 days, newest first",
  query: z.object({
    ...pageQuery,
    category: z.optional(category).check(z.meta({ description: "Only entries of this category" })),
  }),
  reply: z.object({ activity: z.array(activityEntry), total, retention }),
  uses: ["table:read"],
});
