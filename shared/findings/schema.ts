import * as z from "zod";
import { count, idField } from "../api/page.ts";
import { text, timestamp } from "../api/text.ts";

export const resolution = z.enum(["handled", "ignored"]);
export type Resolution = z.infer<typeof resolution>;

/** interface.md "Limits": at most 1000 characters; tab and newline may occur. */
export const acknowledgeReason = text(1000, { multiline: true });

const acknowledger = z.object({ id: idField, label: z.string() });

/** interface.md "Breach finding". `description` is HTML as the catalog has it: escape or sanitize it before showing it. */
export const finding = z
  .object({
    id: idField.meta({ description: "Permanent, never reused" }),
    email: z.string(),
    emailId: idField,
    breach: z.object({
      id: idField,
      name: z.string().meta({ description: "Permanent key of Have I Been Pwned" }),
      title: z.string(),
      domain: z.string().meta({ description: "May be empty" }),
      breachDate: z.string().meta({ format: "date", examples: ["2026-01-31"] }),
      dataClasses: z.array(z.string()),
      pwnCount: count,
      description: z.string().meta({
        description: "HTML as Have I Been Pwned wrote it: escape or sanitize it before showing it",
      }),
    }),
    firstDetectedAt: timestamp,
    lastSeenAt: timestamp,
    firstDetectedScanId: idField.nullable(),
    acknowledged: z.boolean(),
    acknowledgedAt: timestamp.nullable(),
    acknowledgedBy: acknowledger.nullable().meta({ description: "The user who acknowledged it" }),
    acknowledgedByApiKey: acknowledger.nullable().meta({ description: "The API key that acknowledged it" }),
    acknowledgeReason: z.string().nullable(),
    resolution: resolution.nullable(),
  })
  .meta({ id: "BreachFinding" });
export type Finding = z.infer<typeof finding>;
