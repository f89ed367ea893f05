import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";
import { unusable } from "../../shared/people/directory-schema.ts";

export const getDirectory = defineEndpoint({
  summary: "Show what a directory has brought that cannot be watched",
  access: "user",
  path: byId,
  reply: unusable,
  refusals: ["directoryNotFound"],
  uses: ["table:read"],
});
