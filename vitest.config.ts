import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Tests start many short processes (services, the command line), whose time is mostly compiling the same modules.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/compile");

// Tests kill processes, which leave their temporary files behind: all of them go with the run.
const temporary = mkdtempSync(join(tmpdir(), "breach-monitor-tests-"));
process.env.TMPDIR = temporary;
process.once("exit", () => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 }));

/** Files that take longest; those that mostly wait beside those that compute. */
const longest = [
  "alerts/faults",
  "service/interruption",
  "service/check",
  "service/chaos",
  "service/organization-deletion",
  "infrastructure/stack",
  "service/upstream",
  "scans/planners",
  "scans/ending",
  "service/delivery",
  "table/counted-list",
  "service/isolation",
  "service/automatic-scans",
].map((name) => `/test/${name}.test.ts`);

/** They begin first, so that the last of them does not run alone. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((name) => moduleId.endsWith(name));
      return index === -1 ? longest.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // Most of a test's time is waiting: for sweeps, retries and new windows.
    maxWorkers: 4,
    projects: [
      {
        test: {
          name: "parts",
          include: [
            "test/{alerts,api,catalog,imports,infrastructure,local,openapi,organizations,scans,table}/**/*.test.ts",
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
