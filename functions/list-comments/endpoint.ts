import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId, pageQuery, total } from "../../shared/contract/page.ts";
import { comment } from "../../shared/findings/breach-schema.ts";

export const listComments = defineEndpoint({
  summary: "List the comments on a breach, newest first",
  access: "user",
  path: byId,
  query: z.object(pageQuery),
  reply: z.object({ comments: z.array(comment), total }),
  uses: ["table:read"],
});
