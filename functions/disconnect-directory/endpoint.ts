import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const disconnectDirectory = defineEndpoint({
  summary: "Disconnect a directory: its people are forgotten, e-mails and findings stay as they are",
  access: "admin",
  path: byId,
  refusals: ["directoryNotFound"],
  limit: "apiKeys",
  uses: ["table:read", "table:write", "table:write:directories", "queue:directory-changes"],
});
