import { inject } from "vitest";
import { type LocalService, startService } from "./run.ts";

/** Starts a service of a test file's own, from the assembly that the shared one has synthesized. */
export const startAnother = (
  options: readonly string[],
  parts: Record<string, string> = {},
): Promise<LocalService> =>
  // Functions that end for others' sake and start again would take most of a test's time.
  startService(options, { LOCAL_KEPT_MEGABYTES: "65536", ...parts }, inject("assembly"));
