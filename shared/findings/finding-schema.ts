import * as z from "zod/mini";
import { booleanParameter, count, idField, idParameter, listParameter } from "../contract/page.ts";
import { text, textSuchAs, timestamp } from "../contract/text.ts";
import { severities, severity } from "../hibp/severity-schema.ts";
import { ofPerson } from "../monitoring/emails/person-schema.ts";
import { endedBy, enders } from "./rules/rule-schema.ts";

export const resolution = z.enum(["handled", "ignored"]);
export type Resolution = z.infer<typeof resolution>;

const reasonExample = z.meta({ examples: ["Password changed"] });

export const acknowledgeReason = text(1000, { multiline: true }).check(reasonExample);

const acknowledger = z.object({ id: idField, label: textSuchAs("Grace Hopper") });

export const finding = z
  .object({
    id: idField.check(z.meta({ description: "Permanent, never reused" })),
    email: textSuchAs("ada@demo.example"),
    emailId: idField,
    breach: z.object({
      id: idField,
      name: textSuchAs("PayrollPro").check(z.meta({ description: "Permanent key of Have I Been Pwned" })),
      title: textSuchAs("PayrollPro"),
      domain: textSuchAs("payrollpro.example").check(z.meta({ description: "May be empty" })),
      breachDate: z.string().check(z.meta({ format: "date", examples: ["2026-01-31"] })),
      dataClasses: z.array(z.string()).check(z.meta({ examples: [["Passwords", "Email addresses"]] })),
      pwnCount: count.check(z.meta({ examples: [1_200_000] })),
      description: textSuchAs("In January 2026 PayrollPro lost the passwords of its customers.").check(
        z.meta({
          description: "HTML as Have I Been Pwned wrote it: escape or sanitize it before showing it",
        }),
      ),
    }),
    firstDetectedAt: timestamp,
    lastSeenAt: timestamp,
    firstDetectedScanId: z.nullable(idField),
    acknowledged: z.boolean(),
    acknowledgedAt: z.nullable(timestamp),
    acknowledgedBy: z.nullable(acknowledger).check(z.meta({ description: "The user who acknowledged it" })),
    acknowledgedByApiKey: z
      .nullable(acknowledger)
      .check(z.meta({ description: "The API key that acknowledged it", examples: [null] })),
    acknowledgeReason: z.nullable(z.string()).check(reasonExample),
    resolution: z.nullable(resolution),
  })
  .check(z.meta({ id: "BreachFinding" }));
export type Finding = z.infer<typeof finding>;

const advice = z
  .object({
    title: textSuchAs("Change the password"),
    steps: z.array(textSuchAs("Change the password at PayrollPro, and wherever it was used again.")),
  })
  .check(z.meta({ id: "Advice", description: "What the person who handles the finding can do" }));

const unusual = z.boolean().check(z.meta({ examples: [false] }));

/** A breach with everything that is known of it. */
export const detailedBreach = z
  .object({
    ...finding.shape.breach.shape,
    dataClasses: finding.shape.breach.shape.dataClasses.check(z.meta({ description: "Worst first" })),
    severity,
    addedDate: z.nullable(timestamp).check(z.meta({ description: "When Have I Been Pwned listed it" })),
    modifiedDate: z.nullable(timestamp),
    isVerified: z.boolean(),
    isFabricated: unusual,
    isSensitive: unusual,
    isRetired: unusual,
    isSpamList: unusual,
    isMalware: unusual,
    isStealerLog: unusual,
    attribution: z.nullable(z.string()),
    advice: z.array(advice).check(z.meta({ description: "Worst first, at most four" })),
  })
  .check(z.meta({ id: "DetailedBreach" }));
export type DetailedBreach = z.infer<typeof detailedBreach>;

/** A finding in full: with whose address it is, and everything that is known of the breach. */
export const detailedFinding = z
  .object({
    ...finding.shape,
    breach: detailedBreach,
    severity: severity.check(
      z.meta({ description: "That of the breach; when it changes, its findings follow within minutes" }),
    ),
    isHistory: z.boolean().check(
      z.meta({
        description:
          "The first check of the e-mail found it: Have I Been Pwned knew it before anybody here asked",
        examples: [false],
      }),
    ),
    ownerToldAt: z
      .nullable(timestamp)
      .check(z.meta({ description: "When the latest message to its owner was made; null without any" })),
    endedBy,
    ownerName: z.nullable(z.string()).check(z.meta({ examples: ["Ada Lovelace"] })),
    team: z.nullable(z.object({ id: idField, name: textSuchAs("Finance") })),
    ...ofPerson,
    stealerLogDomains: z.optional(z.array(z.string()).check(z.maxLength(50))).check(
      z.meta({
        description:
          "Of a stealer log: websites whose logins were taken from the address, own ones first; absent where " +
          "they are not known",
      }),
    ),
    ownLogins: z.optional(z.array(z.string()).check(z.maxLength(50))).check(
      z.meta({
        description:
          "Those of `stealerLogDomains` that are verified domains of the organization, or below one",
      }),
    ),
  })
  .check(z.meta({ id: "DetailedFinding" }));
export type DetailedFinding = z.infer<typeof detailedFinding>;

/** As `detailedFinding`, for systems to which 1970 would be a date like others. */
export const exportedFinding = z
  .object({
    ...detailedFinding.shape,
    breach: z
      .object({
        ...detailedBreach.shape,
        breachDate: z
          .optional(finding.shape.breach.shape.breachDate)
          .check(z.meta({ description: "Absent where it is not known" })),
      })
      .check(z.meta({ id: "ExportedBreach" })),
  })
  .check(z.meta({ id: "ExportedFinding" }));
export type ExportedFinding = z.infer<typeof exportedFinding>;

const order = z.enum(["newest", "severity"], "order must be newest or severity");
export type FindingOrder = z.infer<typeof order>;

/** Filters and order that both lists of findings have. */
export const findingFilters = {
  acknowledged: z
    .optional(booleanParameter("acknowledged"))
    .check(z.meta({ description: "Only acknowledged (`true`) or unacknowledged (`false`) findings" })),
  severity: z
    .optional(listParameter("severity", severities))
    .check(
      z.meta({ description: "Only findings with one of these severities", examples: [["critical", "high"]] }),
    ),
  scanId: z
    .optional(idParameter("scanId"))
    .check(z.meta({ description: "Only findings that this scan was the first to detect" })),
  breachId: z
    .optional(idParameter("breachId"))
    .check(z.meta({ description: "Only findings of this breach" })),
  domainId: z
    .optional(idParameter("domainId"))
    .check(z.meta({ description: "Only findings of e-mails of this domain" })),
  emailId: z.optional(idParameter("emailId")).check(z.meta({ description: "Only findings of this e-mail" })),
  told: z
    .optional(booleanParameter("told"))
    .check(
      z.meta({ description: "Only findings with (`true`) or without (`false`) a message to their owner" }),
    ),
  endedBy: z.optional(z.enum(enders, `endedBy must be ${enders.join(", ")}`)).check(
    z.meta({
      description: "Only acknowledged findings that people (`person`) or this rule have ended",
    }),
  ),
  order: z._default(order, "newest").check(
    z.meta({
      description: "`severity`: critical first, newest first within a severity",
      examples: ["severity"],
    }),
  ),
};

/** In the reply of both lists of findings. */
export const unacknowledged = count.check(
  z.meta({ description: "How many findings of the organization are unacknowledged, whatever the filters" }),
);
