import * as z from "zod/mini";
import { count, idField } from "../../contract/page.ts";
import { textSuchAs } from "../../contract/text.ts";

/** The `data` of an envelope, by the type of its event. */
export const eventData = {
  breach: z.object({
    breaches: z
      .array(
        z.object({
          breachId: idField,
          title: textSuchAs("PayrollPro"),
          domain: textSuchAs("payrollpro.example"),
          dataClasses: z.array(z.string()).check(z.meta({ examples: [["Passwords", "Email addresses"]] })),
        }),
      )
      .check(z.minLength(1)),
  }),
  scan_complete: z.object({
    scannedCount: count,
    newBreachCount: count,
    failedCount: count,
    totalEmails: count,
  }),
  scan_error: z.object({ error: textSuchAs("2 e-mails could not be scanned") }),
} as const;

/** An event as programs get it. (The `AlertEvent` of a delivery names breaches by id only.) */
export const event = z.discriminatedUnion("type", [
  z.object({ type: z.literal("breach"), data: eventData.breach }),
  z.object({ type: z.literal("scan_complete"), data: eventData.scan_complete }),
  z.object({ type: z.literal("scan_error"), data: eventData.scan_error }),
]);
export type Event = z.infer<typeof event>;
export type EventType = Event["type"];
