import { join } from "node:path";
import { defineConfig } from "vitest/config";

// Tests start many short processes (services, the command line), whose time is mostly compiling the same modules.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/compile");

export default defineConfig({
  test: {
    // Most of a test's time is waiting: for sweeps, retries and new windows.
    maxWorkers: 3,
    projects: [
      {
        test: {
          name: "parts",
          include: [
            "test/{alerts,billing,catalog,imports,infrastructure,local,openapi,organizations,scans,table}/**/*.test.ts",
          ],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "service",
          include: ["test/{bench,endpoints,service}/**/*.test.ts"],
          // One local service for all: the real bundles through the real template.
          globalSetup: "test/service/run.ts",
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
