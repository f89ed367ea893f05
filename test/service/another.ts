import { inject } from "vitest";
import { type LocalService, startService } from "./run.ts";

/** Starts a service of a test file's own, from the assembly that the shared one has synthesized. */
export const startAnother = (
  options: readonly string[],
  parts: Record<string, string> = {},
): Promise<LocalService> => startService(options, parts, inject("assembly"));
