import * as z from "zod/mini";
import { count, idField } from "../api/page.ts";
import { text } from "../api/text.ts";
import { billingInterval } from "../billing/schema.ts";
import { emailAddress, ownerName } from "../emails/schema.ts";

/** interface.md "Limits": extracted addresses of one file, and so rows of one plan. */
export const maximumRows = 500;

/** interface.md "Limits": 1 MiB. */
export const maximumFileBytes = 1024 * 1024;

/** interface.md "POST /emails/import/preview". */
export const fileExtensions = [".csv", ".tsv", ".txt"] as const;

/** Characters of an address (RFC 5321 4.5.3.1), and of what is shown of a malformed one. */
export const maximumAddressCharacters = 254;

/**
 * An e-mail address that an import takes: none with `=` or `|`. The standard has them, but in a file they are nearly always a
 * label's (`email=ada@demo.example`), and what stands behind is not always an address either
 * (`bounce+ada=other.example@demo.example`). `POST /emails` takes them.
 */
export const importedAddress = emailAddress.check(
  z.refine((address) => !/[=|]/.test(address), "must not contain = or |"),
);

/** decisions.md "Import". */
const importStatus = z.enum(["will_import", "already_monitored", "duplicate", "invalid"]).check(
  z.meta({
    description:
      "`duplicate`: stands further up in the same file. `invalid`: malformed, or not of a verified domain of the organization",
  }),
);

/** interface.md "Import plan". `domainId` is null exactly when the row is invalid. */
export const importRow = z
  .object({
    email: text(maximumAddressCharacters),
    domainId: z.nullable(idField).check(z.meta({ description: "Null exactly when the row is invalid" })),
    status: importStatus,
    ownerName: z.optional(ownerName),
  })
  .check(z.meta({ id: "ImportRow" }));
export type ImportRow = z.infer<typeof importRow>;

/** interface.md "Import plan"; the counts are totals after the import, the cents are per interval. */
export const quote = z
  .object({
    interval: billingInterval,
    isEstimate: z.boolean(),
    newSeatsCount: count.check(z.meta({ description: "Paid seats after the import" })),
    newActiveCount: count.check(z.meta({ description: "Active e-mails after the import" })),
    estimatedDeltaCents: z.int().check(z.meta({ description: "What is paid more for each interval" })),
  })
  .check(z.meta({ id: "Quote" }));
export type Quote = z.infer<typeof quote>;

export const importPlan = z
  .object({ emails: z.array(importRow).check(z.maxLength(maximumRows)), quote })
  .check(z.meta({ id: "ImportPlan" }));
export type ImportPlan = z.infer<typeof importPlan>;
