import { defineEndpoint } from "../../shared/api/endpoint.ts";
import { fileExtensions, importPlan, maximumFileBytes } from "../../shared/imports/schema.ts";

export const previewImport = defineEndpoint({
  summary: "Preview an import of e-mail addresses from a file",
  upload: { field: "file", extensions: fileExtensions, maximumBytes: maximumFileBytes },
  status: 200,
  reply: importPlan,
  refusals: ["fileTooLarge", "tooManyAddresses"],
  limit: "importPreviews",
  uses: ["table:read", "table:write"],
  memoryMegabytes: 1024,
});
