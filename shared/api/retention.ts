import * as z from "zod";

/** interface.md "Retention object": scans and activity are visible for 365 days. */
export const retention = z.object({ days: z.int(), visibleSince: z.string() });

const visibleDays = 365;

export const retentionAt = (now: Date): z.infer<typeof retention> => ({
  days: visibleDays,
  visibleSince: new Date(now.getTime() - visibleDays * 24 * 60 * 60 * 1000).toISOString(),
});
