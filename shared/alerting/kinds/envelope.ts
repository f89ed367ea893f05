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

/** An event as receivers get it. (The `AlertEvent` of a delivery names breaches by id only.) */
export const event = z.discriminatedUnion("type", [
  z.object({ type: z.literal("breach"), data: eventData.breach }),
  z.object({ type: z.literal("scan_complete"), data: eventData.scan_complete }),
  z.object({ type: z.literal("scan_error"), data: eventData.scan_error }),
]);
export type Event = z.infer<typeof event>;
export type EventType = Event["type"];

/**
 * The JSON text that one attempt signs and sends. `id` is the delivery's id, equal in every attempt; `at` is
 * the time of this attempt. Fields that the schema does not name are dropped. Throws a ZodError when the data
 * does not match the type.
 */
export const envelope = ({ id, at, ...rest }: Event & { id: number; at: Date }): string => {
  const { type, data } = event.parse(rest);
  return JSON.stringify({ id, type, timestamp: at.toISOString(), data });
};

const hiddenPath = "/...";

/**
 * The part of a webhook's url that is not secret: the origin, plus a literal `/...` when the url has a path.
 */
export const urlPreview = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return pathname === "/" ? origin : `${origin}${hiddenPath}`;
};

/** Whether a url is the preview of another url that has a path: nothing would be delivered there. */
export const isUrlPreview = (url: string): boolean => URL.parse(url)?.pathname === hiddenPath;
