import * as z from "zod/mini";
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
