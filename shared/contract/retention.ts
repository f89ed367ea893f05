import * as z from "zod/mini";
import { timestamp } from "./text.ts";

const visibleDays = 365;

/** How far back scans and activity are listed; part of the replies of both lists. */
export const retention = z
  .object({ days: z.literal(visibleDays).check(z.meta({ type: "integer" })), visibleSince: timestamp })
  .check(z.meta({ id: "Retention", description: "Older entries are kept, but not returned" }));

export const retentionAt = (now: Date): z.infer<typeof retention> => ({
  days: visibleDays,
  visibleSince: new Date(now.getTime() - visibleDays * 24 * 60 * 60 * 1000).toISOString(),
});
