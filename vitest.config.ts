import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Tests start many short processes, services and command lines, which spend most of their time compiling
// modules.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/compile");

// Processes that tests kill leave temporary files behind: all of these are removed at the end of the run.
const temporary = mkdtempSync(join(tmpdir(), "breach-monitor-tests-"));
process.env.TMPDIR = temporary;
process.once("exit", () => rmSync(temporary, { recursive: true, force: true, maxRetries: 3 }));

/** These files are small but slow. */
const slow = /\/(bench\/costs|browser\/waiting|service\/(demo|plans))\.test/;

/**
 * Without times of an earlier run, vitest starts the largest files first. Those that are small but slow would end last.
 */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => (slow.test(moduleId) ? 0 : 1);
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** Folders whose tests use one local service, with the real bundles and the real template. */
const served = "{bench,browser,dashboard,endpoints,people,service}";

// `npm test` leaves out what takes long by nature, files named *.long.test.ts, and `npm run test:long` runs only that.
export default defineConfig(({ mode }) => {
  const isLong = mode === "long";
  const name = isLong ? "*.long.test.ts" : "!(*.long).test.ts";
  // Ends a test or hook that hangs. A machine that does something else beside the tests takes several times as long as
  // one that does not.
  const testTimeout = isLong ? 600_000 : 180_000;
  const project = (title: string, folders: string, settings: object = {}) => ({
    test: {
      name: title,
      include: [`test/${folders}/**/${name}`],
      testTimeout,
      hookTimeout: testTimeout,
      expect: { poll: { timeout: testTimeout / 2 } },
      isolate: false,
      setupFiles: "test/fresh.ts",
      ...settings,
    },
  });
  return {
    test: {
      // More workers than small machines have cores: tests mostly wait for sweeps, retries and new windows.
      maxWorkers: 6,
      sequence: { sequencer: SlowFirst },
      reporters: ["default", ...(process.stdout.isTTY ? [] : ["./test/progress.ts"])],
      projects: [
        project("parts", "*", { exclude: [`test/${served}/**`] }),
        project("service", served, { globalSetup: "test/service/run.ts" }),
      ],
    },
  };
});
