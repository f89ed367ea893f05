import * as z from "zod/mini";
import {
  booleanParameter,
  count,
  idField,
  idParameter,
  listParameter,
  pageQuery,
} from "../../contract/page.ts";
import { time, timestamp } from "../../contract/text.ts";
import { severities, severity } from "../../hibp/severity-schema.ts";
import { searchText } from "../emails/email-schema.ts";
import { maximumRows } from "../imports/import-schema.ts";

export const unwatchedAddress = z
  .object({
    id: idField,
    email: z.string(),
    domain: z.object({ id: idField, name: z.string() }),
    severity: severity.check(z.meta({ description: "Of its worst breach" })),
    breachCount: count,
    breaches: z
      .array(z.object({ id: idField, title: z.string() }))
      .check(z.meta({ description: "At most five, worst first" })),
    firstSeenAt: timestamp,
    lastNewAt: timestamp.check(
      z.meta({ description: "When a scan first saw the newest of its breaches in HIBP's answers" }),
    ),
    ignored: z.boolean(),
  })
  .check(z.meta({ id: "UnwatchedAddress" }));
export type UnwatchedAddress = z.infer<typeof unwatchedAddress>;

/** What is known of a domain's list as a whole. */
export const unwatchedDomain = z.object({
  id: idField,
  name: z.string(),
  unwatched: count,
  asOf: timestamp.check(z.meta({ description: "When HIBP last named the breached addresses of the domain" })),
  isCurrent: z.boolean().check(
    z.meta({
      description:
        "false: the domain is not verified, or HIBP does not search it whole any more, so that " +
        "the list is of `asOf` and says nothing of today",
    }),
  ),
});
export type UnwatchedDomain = z.infer<typeof unwatchedDomain>;

export const unwatchedFilters = {
  ...pageQuery,
  domainId: z
    .optional(idParameter("domainId"))
    .check(z.meta({ description: "Only addresses of this domain" })),
  ignored: z.optional(booleanParameter("ignored")),
  severity: z
    .optional(listParameter("severity", severities))
    .check(
      z.meta({ description: "Only addresses whose worst breach is so, one or several, separated by commas" }),
    ),
  breachId: z
    .optional(idParameter("breachId"))
    .check(z.meta({ description: "Only addresses in this breach" })),
  q: z.optional(searchText).check(
    z.meta({
      description:
        "Only addresses that begin with it, or whose domain does, without case and accents; two characters at least",
      examples: ["ada@"],
    }),
  ),
  order: z
    ._default(z.enum(["newest", "severity"], "order must be newest or severity"), "newest")
    .check(
      z.meta({ description: "By `lastNewAt`, newest first; `severity`: worst first, and so within a level" }),
    ),
};

export const unwatchedIds = z.array(idField).check(
  z.minLength(1),
  z.maxLength(maximumRows),
  z.meta({
    description:
      "If one of them was never on the list, nothing is done. Addresses that have left it are " +
      "skipped, as long as no other 2,000 of the domain have left since",
  }),
);

/** Strict: a misspelled name of a filter would otherwise change more than was meant. */
const unwatchedFilter = z
  .strictObject({
    domainId: z.optional(idField),
    severity: z.optional(z.array(severity).check(z.minLength(1), z.maxLength(severities.length))),
    breachId: z.optional(idField),
    q: z.optional(searchText),
    newBefore: z.optional(time.check(z.meta({ description: "Addresses whose `lastNewAt` is earlier" }))),
    ignoredAt: z.optional(
      time.check(
        z.meta({
          description: "Addresses that were ignored at exactly this time, which is the `at` of that request",
        }),
      ),
    ),
  })
  .check(
    z.meta({
      id: "UnwatchedFilter",
      description: "Fields combine with AND; `{}` means all addresses. Unknown fields are refused",
      examples: [{ breachId: 1, severity: ["critical", "high"] }],
    }),
  );
type UnwatchedFilter = z.infer<typeof unwatchedFilter>;

/** Which addresses a request is about: those with these `ids`, or all that match. */
export const unwatchedChoice = {
  ids: z.optional(unwatchedIds),
  filter: z.optional(unwatchedFilter),
};

export const exactlyOne = z.refine<{ ids?: number[] | undefined; filter?: UnwatchedFilter | undefined }>(
  ({ ids, filter }) => (ids === undefined) !== (filter === undefined),
  { error: "Exactly one of ids and filter is required", path: [] },
);
