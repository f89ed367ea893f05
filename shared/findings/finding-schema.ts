import * as z from "zod/mini";
import { booleanParameter, count, idField, idParameter } from "../contract/page.ts";
import { text, timestamp } from "../contract/text.ts";

export const resolution = z.enum(["handled", "ignored"]);
export type Resolution = z.infer<typeof resolution>;

export const acknowledgeReason = text(1000, { multiline: true });

const acknowledger = z.object({ id: idField, label: z.string() });

export const finding = z
  .object({
    id: idField.check(z.meta({ description: "Permanent, never reused" })),
    email: z.string(),
    emailId: idField,
    breach: z.object({
      id: idField,
      name: z.string().check(z.meta({ description: "Permanent key of Have I Been Pwned" })),
      title: z.string(),
      domain: z.string().check(z.meta({ description: "May be empty" })),
      breachDate: z.string().check(z.meta({ format: "date", examples: ["2026-01-31"] })),
      dataClasses: z.array(z.string()),
      pwnCount: count,
      description: z.string().check(
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
      .check(z.meta({ description: "The API key that acknowledged it" })),
    acknowledgeReason: z.nullable(z.string()),
    resolution: z.nullable(resolution),
  })
  .check(z.meta({ id: "BreachFinding" }));
export type Finding = z.infer<typeof finding>;

/** A finding as the dashboard lists it: with whose address it is. */
export const ownedFinding = z
  .object({
    ...finding.shape,
    ownerName: z.nullable(z.string()),
    team: z.nullable(z.object({ id: idField, name: z.string() })),
  })
  .check(z.meta({ id: "OwnedFinding" }));
export type OwnedFinding = z.infer<typeof ownedFinding>;

/** Filters that both lists of findings have. */
export const findingFilters = {
  acknowledged: z
    .optional(booleanParameter("acknowledged"))
    .check(z.meta({ description: "Only acknowledged (`true`) or unacknowledged (`false`) findings" })),
  scanId: z
    .optional(idParameter("scanId"))
    .check(z.meta({ description: "Only findings that this scan was the first to detect" })),
};

/** In the reply of both lists of findings. */
export const unacknowledged = count.check(
  z.meta({ description: "How many findings of the organization are unacknowledged, whatever the filters" }),
);
