import * as z from "zod/mini";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import {
  fileExtensions,
  importPreview,
  maximumFileBytes,
} from "../../shared/monitoring/imports/import-schema.ts";

export const previewImport = defineEndpoint({
  summary: "Preview an import of e-mail addresses from a file",
  description:
    `Addresses are read from columns headed like "email" if these have any, otherwise from all ` +
    `cells. Owners' names and teams are read from columns headed accordingly (teams: like "team", ` +
    `"department" or "group"). UTF-8 with or without byte order mark, or UTF-16 with one; other ` +
    "files are read as Windows-1252, or as Mac OS Roman if their lines end with CR alone. Columns " +
    `separated by \`,\`, \`;\` or tab; quoted fields. A request counts against the limit before ` +
    "its body is read.",
  upload: { field: "file", extensions: fileExtensions, maximumBytes: maximumFileBytes },
  query: z.object({
    include: z
      .optional(z.literal("columns", "include must be columns"))
      .check(z.meta({ description: "With the columns of the file", examples: ["columns"] })),
    leaveOut: z
      .optional(z.literal("departed", "leaveOut must be departed"))
      .check(z.meta({ description: "Without the addresses that `columns.departed` has" })),
  }),
  reply: importPreview,
  refusals: ["fileTooLarge", "tooManyAddresses"],
  limit: "importPreviews",
  uses: ["table:read", "table:limits"],
});
