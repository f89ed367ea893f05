import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";
import { textSuchAs } from "../../shared/contract/text.ts";
import { directoryName, scimUrl, token } from "../../shared/people/directory-schema.ts";

export const connectDirectory = defineEndpoint({
  summary: "Connect a directory, which pushes its people by SCIM 2.0",
  access: "admin",
  body: z.strictObject({ name: directoryName }),
  status: 201,
  reply: z.object({ id: idField, name: textSuchAs("Entra ID"), url: scimUrl, token }),
  refusals: ["directoryLimitReached"],
  limit: "apiKeys",
  uses: ["table:read", "table:write", "table:write:directories"],
});
