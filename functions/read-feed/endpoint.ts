import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { limitTo } from "../../shared/contract/page.ts";
import { textSuchAs } from "../../shared/contract/text.ts";
import { feedFormat, feedItem } from "../../shared/findings/feed/feed-schema.ts";

const cursor = "AAAAAZrCcgA";

export const readFeed = defineEndpoint({
  summary: "Read all findings and log entries once, oldest first, for another system",
  description:
    "Keep `cursor` once the items are stored, and ask with `after` for what comes next; at once " +
    "while `hasMore` is true. A finding comes when its scan has ended, a log entry when it is a " +
    "minute old and requests that change many findings have ended. What is removed before it is " +
    "read does not come; later changes of an item do not either. A page may have fewer items " +
    "than `limit` although `hasMore` is true.",
  query: z.object({
    after: z.optional(z.string()).check(
      z.meta({
        description: "The cursor of the page before, of either format; without it the oldest items come",
        examples: [cursor],
      }),
    ),
    limit: limitTo(1_000),
    format: z._default(feedFormat, "native").check(
      z.meta({
        description: "`ocsf`: items are Detection Findings and API Activities of OCSF 1.8.0",
        examples: ["ocsf"],
      }),
    ),
  }),
  reply: z.object({
    items: z.array(feedItem),
    cursor: textSuchAs(cursor).check(z.meta({ description: "Opaque; does not expire" })),
    hasMore: z.boolean(),
  }),
  uses: ["table:read"],
  timeoutSeconds: 29,
});
