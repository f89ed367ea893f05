import * as z from "zod/mini";
import { asciiAddress } from "../../contract/domain-name.ts";
import { booleanParameter, count, idField, idParameter, pageQuery } from "../../contract/page.ts";
import { notEmpty } from "../../contract/patch.ts";
import { isQuery } from "../../contract/search-text.ts";
import { isSeen, ownersName, text, textSuchAs, timestamp } from "../../contract/text.ts";
import { severity } from "../../hibp/severity-schema.ts";
import { ofPerson } from "./person-schema.ts";

/**
 * An e-mail address as it was written, trimmed and with its domain in ASCII: at most 254 characters (RFC
 * 5321, 4.5.3.1), in the form that the HTML standard allows.
 */
export const writtenAddress = z.string().check(
  z.trim(),
  z.maxLength(254),
  z.overwrite(asciiAddress),
  z.maxLength(254),
  // No pattern, which the OpenAPI document would show: clients may write the domain in any script.
  z.refine(
    (address) => z.regexes.html5Email.test(address),
    "must be an e-mail address, with ASCII letters before the @",
  ),
);

/** An e-mail address, trimmed and lower-cased, which is how addresses are unique. */
export const emailAddress = writtenAddress.check(
  // After the form is checked: some letters beyond ASCII, such as the Kelvin sign, have an ASCII lower case.
  z.toLowerCase(),
  z.meta({
    description:
      "Trimmed and lower-cased; an internationalized domain may be written in either form, and is kept in ASCII",
    examples: ["ada@demo.example"],
  }),
);

const ownerExample = z.meta({ examples: ["Ada Lovelace"] });

export const ownerName = ownersName(200).check(ownerExample);

export const monitoredEmail = z
  .object({
    id: idField,
    email: textSuchAs("ada@demo.example"),
    ownerName: z.nullable(z.string()).check(ownerExample),
    isActive: z.boolean().check(z.meta({ description: "Whether it is scanned and takes a seat" })),
    lastScannedAt: z.nullable(timestamp),
    createdAt: timestamp,
    domain: z.object({ id: idField, name: textSuchAs("demo.example") }),
    team: z.nullable(z.object({ id: idField, name: textSuchAs("Finance") })),
    breachCount: count,
    unacknowledgedBreachCount: count,
  })
  .check(z.meta({ id: "MonitoredEmail" }));

export const listedEmail = z
  .object({
    ...monitoredEmail.shape,
    severity: z
      .nullable(severity)
      .check(z.meta({ description: "The highest of its open findings; null if none is open" })),
    ...ofPerson,
  })
  .check(z.meta({ id: "ListedEmail" }));
export type ListedEmail = z.infer<typeof listedEmail>;

const emailOrder = z.enum(["newest", "worst"], "order must be newest or worst");
export type EmailOrder = z.infer<typeof emailOrder>;

const source = z.enum(["directory", "hand"], "source must be directory or hand");

/** Filters and order of lists of e-mails. */
export const emailFilters = {
  ...pageQuery,
  domainId: z.optional(idParameter("domainId")).check(z.meta({ description: "Only e-mails of this domain" })),
  teamId: z.optional(idParameter("teamId")).check(z.meta({ description: "Only e-mails of this team" })),
  isActive: z
    .optional(booleanParameter("isActive"))
    .check(z.meta({ description: "Only enabled (`true`) or disabled (`false`) e-mails" })),
  breached: z
    .optional(booleanParameter("breached"))
    .check(z.meta({ description: "Only e-mails with (`true`) or without (`false`) an open finding" })),
  source: z
    .optional(source)
    .check(
      z.meta({ description: "Only e-mails that a directory has named (`directory`), or none has (`hand`)" }),
    ),
  left: z
    .optional(booleanParameter("left"))
    .check(z.meta({ description: "Only e-mails whose person has left (`true`), or has not (`false`)" })),
  order: z._default(emailOrder, "newest").check(
    z.meta({
      description:
        "`worst`: by the highest severity of open findings, then by how many are open (1, 2 to 3, 4 to 7, 8 to " +
        "15 and so on), then newest first; e-mails without one come last",
      examples: ["worst"],
    }),
  ),
};

/** What e-mails are found by (search.ts). */
export const searchText = text(200).check(
  z.refine(isQuery, "must have at least 2 characters"),
  z.meta({
    description:
      "The beginning of an address, of the name of a domain, or of words of an owner's name, without case and accents",
    examples: ["ada"],
  }),
);

/** Filters of a list of e-mails in a body. */
export const emailFilter = z.strictObject({
  q: z.optional(searchText.check(isSeen)),
  domainId: z.optional(idField),
  teamId: z.optional(idField),
  isActive: z.optional(z.boolean()),
  breached: z.optional(z.boolean()),
  source: z.optional(source),
  left: z.optional(z.boolean()),
});
export type EmailFilter = z.infer<typeof emailFilter>;

/** Whose an e-mail is: fields of a body that changes it. */
export const assignment = {
  teamId: z.optional(z.nullable(idField)).check(z.meta({ description: "null: no team" })),
  ownerName: z.optional(z.nullable(ownerName)),
};

export const maximumChanges = 500;

export const emailChanges = z
  .object({
    ids: z
      .array(idField)
      .check(
        z.minLength(1),
        z.maxLength(maximumChanges),
        z.meta({ description: "If one of them is not the organization's, nothing is done" }),
      ),
    set: z.optional(z.strictObject({ isActive: z.optional(z.boolean()), ...assignment }).check(notEmpty)),
    remove: z.optional(z.literal(true)),
  })
  .check(
    z.refine(({ set, remove }) => (set === undefined) !== (remove === undefined), {
      error: "Exactly one of set and remove is required",
      path: [],
    }),
  );
