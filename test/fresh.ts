import { vi } from "vitest";
import { resetEnvironment } from "./environment.ts";

/**
 * Runs before each file of tests. Files share processes, so that npm packages are loaded once. Each file gets
 * the environment that its process began with, and loads the project's modules anew. Some of these remember
 * settings of the service that a file uses.
 */
const processes = globalThis as { environment?: NodeJS.ProcessEnv };
processes.environment ??= { ...process.env };
resetEnvironment(processes.environment);
vi.resetModules();
