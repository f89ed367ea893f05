import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { comment, commentText } from "../../shared/findings/breach-schema.ts";

export const commentOnBreach = defineEndpoint({
  summary: "Comment on a breach, for everybody in the organization",
  description: "A comment is plain text. It stays with the breach, also when no finding of it is left.",
  access: "user",
  path: byId,
  body: z.object({ text: commentText }),
  status: 201,
  reply: comment,
  refusals: ["breachNotFound"],
  uses: ["table:read", "table:write"],
});
