import { vi } from "vitest";
import { resetEnvironment } from "./environment.ts";

/**
 * Runs before each file of tests. The files share processes, so that npm packages are loaded once; but each has the environment that its
 * process began with, and the project's own modules anew: some keep what they have read in the environment of the service that a file uses.
 */
const processes = globalThis as { environment?: NodeJS.ProcessEnv };
processes.environment ??= { ...process.env };
resetEnvironment(processes.environment);
vi.resetModules();
