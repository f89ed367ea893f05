import * as z from "zod/mini";
import {
  booleanParameter,
  count,
  idField,
  idParameter,
  listParameter,
  pageQuery,
} from "../../contract/page.ts";
import { timestamp } from "../../contract/text.ts";
import { severities, severity } from "../../hibp/severity-schema.ts";
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
  order: z
    ._default(z.enum(["newest", "severity"], "order must be newest or severity"), "newest")
    .check(z.meta({ description: "`severity`: worst first, and newest first within a level" })),
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
