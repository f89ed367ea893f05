import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { findEngine } from "./local/dynamodb/engine.ts";

// Tests start many short processes, services and command lines, which spend most of their time compiling
// modules.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/compile");

// Processes that tests kill leave temporary files behind: all of these are removed at the end of the run.
const temporary = mkdtempSync(join(tmpdir(), "breach-monitor-tests-"));
process.env.TMPDIR = temporary;
process.once("exit", () => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 }));

// Without the npm package of an engine, DynamoDB Local is fetched before any test needs it.
await findEngine();

/** The slowest files, in an order in which files that mostly wait run beside files that compute. */
const longest = [
  "alerts/faults",
  "browser/waiting",
  "browser/accessibility",
  "browser/accessibility-failing",
  "browser/keyboard-administration",
  "service/interruption",
  "service/audit",
  "service/chaos",
  "service/organization-deletion",
  "infrastructure/stack",
  "service/upstream",
  "scans/planning",
  "scans/ending",
  "service/delivery",
  "lists/counted-list",
  "service/isolation",
  "service/automatic-scans",
].map((name) => `/test/${name}.test.ts`);

/** Starts the slowest files first, so that none of them runs alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longest.findIndex((name) => moduleId.endsWith(name));
      return index === -1 ? longest.length : index;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/**
 * Ends a test or hook that hangs. A machine that does something else beside the tests takes several times as long as
 * one that does not.
 */
const testTimeout = 180_000;
const hookTimeout = testTimeout;

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // More workers than small machines have cores: tests mostly wait for sweeps, retries and new windows.
    maxWorkers: 4,
    projects: [
      {
        test: {
          name: "parts",
          include: ["test/**/*.test.ts"],
          exclude: ["test/{bench,browser,dashboard,endpoints,service}/**"],
          testTimeout,
          hookTimeout,
        },
      },
      {
        test: {
          name: "service",
          include: ["test/{bench,dashboard,endpoints,service}/**/*.test.ts"],
          // Starts one local service for all these tests, with the real bundles and the real template.
          globalSetup: "test/service/run.ts",
          testTimeout,
          hookTimeout,
        },
      },
      {
        test: {
          name: "browser",
          include: ["test/browser/**/*.test.ts"],
          globalSetup: "test/service/run.ts",
          testTimeout,
          hookTimeout,
        },
      },
    ],
  },
});
