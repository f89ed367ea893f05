import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count } from "../../shared/contract/page.ts";
import { timestamp } from "../../shared/contract/text.ts";
import { exactlyOne, unwatchedChoice } from "../../shared/monitoring/unwatched/unwatched-schema.ts";

export const ignoreUnwatched = defineEndpoint({
  summary: "Ignore breached addresses that nobody watches, or stop ignoring them",
  description:
    "By `ids` or by `filter`, exactly one of them. An ignored address stays so until it is taken " +
    "back, is watched from the list, or a later breach of high severity or above names it.",
  access: "user",
  body: z.object({ ...unwatchedChoice, ignored: z.boolean() }).check(exactlyOne),
  reply: z.object({
    success: z.literal(true),
    changed: count.check(z.meta({ description: "How many addresses were not so before" })),
    at: timestamp.check(
      z.meta({ description: "When they were ignored: as `ignoredAt` of a filter it finds exactly these" }),
    ),
  }),
  refusals: ["unwatchedNotFound"],
  limit: "unwatchedChanges",
  uses: ["table:read", "table:write"],
  timeoutSeconds: 29,
});
