import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import {
  fileExtensions,
  importPlan,
  maximumFileBytes,
} from "../../shared/monitoring/imports/import-schema.ts";

export const previewImport = defineEndpoint({
  summary: "Preview an import of e-mail addresses from a file",
  description: `Cells are searched for addresses; a column headed like "email" wins if there is one, and columns of owners' names and of teams (headed like "team", "department" or "group") are taken along. UTF-8 with or without byte order mark, or UTF-16 with one; other files are read as Windows-1252. Columns separated by \`,\`, \`;\` or tab; quoted fields. Counted before the body is read.`,
  upload: { field: "file", extensions: fileExtensions, maximumBytes: maximumFileBytes },
  status: 200,
  reply: importPlan,
  refusals: ["fileTooLarge", "tooManyAddresses"],
  limit: "importPreviews",
  uses: ["table:read", "table:limits"],
});
