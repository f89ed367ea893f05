import * as z from "zod";
import { text } from "../api/text.ts";

export const resolution = z.enum(["handled", "ignored"]);
export type Resolution = z.infer<typeof resolution>;

/** interface.md "Limits": at most 1000 characters; tab and newline may occur. */
export const acknowledgeReason = text(1000, { multiline: true });

const acknowledger = z.object({ id: z.int(), label: z.string() });

/** interface.md "Breach finding". `description` is HTML as the catalog has it: escape or sanitize it before showing it. */
export const finding = z.object({
  id: z.int(),
  email: z.string(),
  emailId: z.int(),
  breach: z.object({
    id: z.int(),
    name: z.string(),
    title: z.string(),
    domain: z.string(),
    breachDate: z.string(),
    dataClasses: z.array(z.string()),
    pwnCount: z.int(),
    description: z.string(),
  }),
  firstDetectedAt: z.string(),
  lastSeenAt: z.string(),
  firstDetectedScanId: z.int().nullable(),
  acknowledged: z.boolean(),
  acknowledgedAt: z.string().nullable(),
  acknowledgedBy: acknowledger.nullable(),
  acknowledgedByApiKey: acknowledger.nullable(),
  acknowledgeReason: z.string().nullable(),
  resolution: resolution.nullable(),
});
export type Finding = z.infer<typeof finding>;
