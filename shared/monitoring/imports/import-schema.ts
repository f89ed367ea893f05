import * as z from "zod/mini";
import { quote } from "../../access/billing/billing-schema.ts";
import { teamName } from "../../access/organizations/organization-schema.ts";
import { idField } from "../../contract/page.ts";
import { text, textSuchAs } from "../../contract/text.ts";
import { emailAddress, ownerName } from "../emails/email-schema.ts";

/** Addresses that one file may hold, and so rows of one plan. */
export const maximumRows = 500;

export const maximumFileBytes = 1024 * 1024;

export const fileExtensions = [".csv", ".tsv", ".txt"] as const;

/** The longest address that RFC 5321 (4.5.3.1) allows. A malformed one is shown up to this length. */
export const maximumAddressCharacters = 254;

/**
 * An e-mail address that an import takes. `POST /emails` also takes addresses with `=` or `|`, which are
 * valid. In a file these nearly always separate a label from an address (`email=ada@demo.example`). Sometimes
 * they separate something else (`bounce+ada=other.example@demo.example`). A dot in front remains of a word
 * that was cut off.
 */
export const importedAddress = emailAddress.check(
  z.refine((address) => !/^\.|[=|]/.test(address), "must not contain = or | or begin with a dot"),
);

const importStatus = z.enum(["will_import", "already_monitored", "duplicate", "invalid"]).check(
  z.meta({
    description:
      "`duplicate`: stands further up in the same file. `invalid`: malformed, or not of a " +
      "verified domain of the organization",
  }),
);

/** What an import does with one address of the file. */
export const importRow = z
  .object({
    email: text(maximumAddressCharacters).check(z.meta({ examples: ["ada@demo.example"] })),
    domainId: z.nullable(idField).check(z.meta({ description: "Null exactly when the row is invalid" })),
    status: importStatus,
    ownerName: z.optional(ownerName),
    team: z.optional(teamName).check(
      z.meta({
        description:
          "Of files with a column of teams. The team of this name, without case, gets the " +
          "e-mail; it is created if it is missing",
      }),
    ),
  })
  .check(z.meta({ id: "ImportRow" }));
export type ImportRow = z.infer<typeof importRow>;

export const importPlan = z
  .object({ emails: z.array(importRow).check(z.maxLength(maximumRows)), quote })
  .check(z.meta({ id: "ImportPlan" }));
export type ImportPlan = z.infer<typeof importPlan>;

export const importPreview = z.object({
  ...importPlan.shape,
  columns: z.optional(
    z
      .object({
        used: z.array(z.string()).check(z.meta({ examples: [["Email", "Name", "Team", "Status"]] })),
        ignored: z.array(textSuchAs("Phone")),
        withoutAddress: z.array(z.string()).check(
          z.meta({
            description: "Whose rows have no address: at most 500 names, or else first cells",
            examples: [[]],
          }),
        ),
        departed: z
          .array(
            z.object({
              email: textSuchAs("grace@demo.example"),
              heading: textSuchAs("Status"),
              value: textSuchAs("Suspended"),
            }),
          )
          .check(
            z.meta({
              description:
                "Addresses of people who have left or are shut out, as a column such as " +
                "“Status”, “suspended”, “accountEnabled” or “Termination date” says: its heading " +
                "and its value",
            }),
          ),
      })
      .check(
        z.meta({
          description:
            "With `include=columns`: the headings of the columns that were read, and of those " +
            "that were not. Not part of the plan",
        }),
      ),
  ),
});
