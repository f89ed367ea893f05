import * as z from "zod/mini";
import { count, idField } from "../../contract/page.ts";
import { textSuchAs } from "../../contract/text.ts";
import { detailedFinding } from "../../findings/finding-schema.ts";
import { severity } from "../../hibp/severity-schema.ts";

/** Findings that an event names at most. */
export const maximumFindings = 50;

/** What a webhook with the option `details` learns besides. */
const eventDetails = z.object({
  severity: severity.check(z.meta({ description: "Of the worst of the breaches" })),
  isStealerLog: z.boolean(),
  isSensitive: z.boolean(),
  people: count.check(z.meta({ description: "Addresses that the event is about" })),
  findings: z.array(detailedFinding).check(
    z.maxLength(maximumFindings),
    z.meta({
      description: "As they are at the attempt, the worst first, without those of removed e-mails",
    }),
  ),
  url: textSuchAs("https://monitor.example/api/app/breaches/7").check(
    z.meta({ description: "The page of the dashboard that shows them" }),
  ),
});
export type EventDetails = z.infer<typeof eventDetails>;

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
    details: z
      .optional(eventDetails)
      .check(z.meta({ description: "Only with the channel's option `details`" })),
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
