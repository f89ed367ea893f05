import * as z from "zod/mini";
import { activityEntry, actorFilter, category } from "../../shared/access/activity/activity-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { pageQuery, total } from "../../shared/contract/page.ts";
import { retention } from "../../shared/contract/retention.ts";
import { time, timestamp } from "../../shared/contract/text.ts";
import { searchText } from "../../shared/monitoring/emails/email-schema.ts";

export const listActivity = defineEndpoint({
  summary: "List the account activity of the last 365 days, newest first",
  query: z.object({
    ...pageQuery,
    category: z.optional(category).check(z.meta({ description: "Only entries of this category" })),
    actor: z.optional(actorFilter).check(
      z.meta({
        description: "Only entries by the user with this id, or by actors of this type",
        examples: ["7"],
      }),
    ),
    from: z
      .optional(time)
      .check(
        z.meta({ description: "Only entries of this time or later", examples: ["2026-11-01T00:00:00Z"] }),
      ),
    to: z
      .optional(time)
      .check(z.meta({ description: "Only entries before this time", examples: ["2026-12-01T00:00:00Z"] })),
    q: z.optional(searchText).check(
      z.meta({
        description: "Only entries whose summary or actor's label has this text, without case or accents",
        examples: ["finance"],
      }),
    ),
  }),
  reply: z.object({
    activity: z.array(activityEntry),
    total,
    retention,
    searchedSince: z.optional(z.nullable(timestamp)).check(
      z.meta({
        description:
          "Only with `actor`, `from`, `to` or `q`, which read the newest 8,192 entries of the time asked for at " +
          "most: entries before this time were not looked at, and `total` does not count them. Null: all were",
      }),
    ),
  }),
  uses: ["table:read"],
});
