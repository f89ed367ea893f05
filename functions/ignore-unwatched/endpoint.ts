import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { unwatchedIds } from "../../shared/monitoring/unwatched/unwatched-schema.ts";

export const ignoreUnwatched = defineEndpoint({
  summary: "Ignore breached addresses that nobody watches, or stop ignoring them",
  description: "An ignored address stays so until it is taken back, or watched from the list.",
  access: "user",
  body: z.object({ ids: unwatchedIds, ignored: z.boolean() }),
  refusals: ["unwatchedNotFound"],
  limit: "unwatchedChanges",
  uses: ["table:read", "table:write"],
  timeoutSeconds: 29,
});
