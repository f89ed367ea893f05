import * as z from "zod/mini";

/** Worst first. */
export const severities = ["critical", "high", "medium", "low"] as const;

/** How bad a breach is for the people in it (severity.ts). */
export const severity = z.enum(severities);
export type Severity = z.infer<typeof severity>;
