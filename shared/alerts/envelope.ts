import * as z from "zod/mini";
import { count, idField } from "../api/page.ts";

/** What an event tells, by its type. interface.md "Envelope". */
export const eventData = {
  breach: z.object({
    breaches: z
      .array(
        z.object({
          breachId: idField,
          title: z.string(),
          domain: z.string(),
          dataClasses: z.array(z.string()),
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
  scan_error: z.object({ error: z.string() }),
} as const;

/** An event and its data, as receivers get them. A delivery's row keeps an `AlertEvent`, of which breaches are ids. */
export const event = z.discriminatedUnion("type", [
  z.object({ type: z.literal("breach"), data: eventData.breach }),
  z.object({ type: z.literal("scan_complete"), data: eventData.scan_complete }),
  z.object({ type: z.literal("scan_error"), data: eventData.scan_error }),
]);
export type Event = z.infer<typeof event>;

/**
 * The JSON text of one attempt: the text that is signed and sent. `id` is the delivery's and the same in every attempt;
 * `at` is the attempt's time. Fields that the contract does not name are left out. Throws on wrong data.
 */
export const envelope = ({ id, at, ...rest }: Event & { id: number; at: Date }): string => {
  const { type, data } = event.parse(rest);
  return JSON.stringify({ id, type, timestamp: at.toISOString(), data });
};

const hiddenPath = "/...";

/** What may be shown of a webhook's url: its origin, and a literal `/...` when it has a path. */
export const urlPreview = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return pathname === "/" ? origin : `${origin}${hiddenPath}`;
};

/** Whether a url is what a client was shown of one that has a path: it sends nobody's alerts anywhere. */
export const isUrlPreview = (url: string): boolean => URL.parse(url)?.pathname === hiddenPath;
