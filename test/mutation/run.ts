/**
 * The entry point of `npm run mutation`: changes lines of an area one by one (StrykerJS), and says which
 * changes no test of the area notices. Takes minutes. Installs StrykerJS beside the packages of the project
 * for this, until the next `npm ci`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const version = "10.1.1";

/** Files whose logic tests can ask for without much around it, and the tests that do. */
const areas: Record<string, { mutate: string[]; tests: string[] }> = {
  lists: {
    mutate: ["shared/lists/{plan,group-key,blocks}.ts"],
    tests: ["test/lists/{plan,blocks}.test.ts"],
  },
  findings: {
    mutate: ["shared/counts/{counts,news}.ts", "shared/hibp/severity.ts"],
    tests: ["test/counts/{counts,news}.test.ts", "test/hibp/severity.test.ts"],
  },
  alerting: {
    mutate: [
      "shared/alerting/outbox/{collecting,singles,window}.ts",
      "shared/alerting/deliveries/share.ts",
      "shared/alerting/attempts/events-of-scan.ts",
    ],
    tests: ["test/alerting/{scan-messages,webhook-details}.test.ts"],
  },
  access: {
    mutate: ["shared/access/api/{authenticate,source-address}.ts", "shared/access/sessions/browser.ts"],
    tests: ["test/access/api/{authenticate,source-address}.test.ts", "test/access/sessions/browser.test.ts"],
  },
  scanning: {
    mutate: ["shared/scanning/{compare-email,check-writes}.ts"],
    tests: ["test/scanning/{chunks,upstream}.test.ts"],
  },
};

const [name = "", ...rest] = process.argv.slice(2);
const area = areas[name];
if (area === undefined || rest.length > 0) {
  console.error(`Name an area, such as "npm run mutation -- lists": ${Object.keys(areas).join(", ")}.`);
  process.exit(2);
}

const projectDirectory = join(import.meta.dirname, "../..");
const run = (command: string, ...args: string[]): void => {
  const env = { ...process.env, MUTATION_TESTS: JSON.stringify(area.tests) };
  const { status } = spawnSync(command, args, { cwd: projectDirectory, env, stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${status}`);
};

const directory = mkdtempSync(join(tmpdir(), "mutation-"));
try {
  const settings = join(directory, "stryker.config.json");
  writeFileSync(
    settings,
    JSON.stringify({
      mutate: area.mutate,
      testRunner: "vitest",
      vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
      // It would read tsconfig.json by an interface that TypeScript 7 does not have.
      tsconfigFile: "none",
      coverageAnalysis: "perTest",
      ignoreStatic: true,
      reporters: ["clear-text"],
      tempDirName: join(directory, "sandbox"),
    }),
  );
  const packages = ["core", "vitest-runner"].map((each) => `@stryker-mutator/${each}@${version}`);
  run("npm", "install", "--no-save", "--no-audit", "--no-fund", ...packages);
  run("npm", "exec", "--", "stryker", "run", settings);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
