/**
 * Runs tests on DynamoDB Local, which AWS publishes, instead of the engine of local runs. Arguments are
 * handed to vitest. When all begin with a hyphen (`--reporter=json`), the tests of the table, lists, the
 * engine and some endpoints run.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { startEngine } from "../../local/dynamodb/engine.ts";

const project = join(import.meta.dirname, "../..");
const defaultTests = [
  "test/aws/table/",
  "test/lists/",
  "test/counts/",
  "test/local/dynamodb/",
  ...[
    "acknowledge-breaches",
    "add-email",
    "commit-import",
    "create-alert-config",
    "delete-alert-config",
    "idempotency-key",
    "limits",
    "list-",
    "order",
    "read-feed",
    "remove-email",
    "start-scan",
  ].map((name) => `test/endpoints/${name}`),
  "test/dashboard/emails.test.ts",
];

process.env.DYNAMODB_ENGINE = "java";
const engine = await startEngine(undefined).catch(({ message }: Error) => {
  console.error(message);
  process.exit(1);
});
try {
  const given = process.argv.slice(2);
  const files = given.every((each) => each.startsWith("-")) ? defaultTests : [];
  const vitest = join(project, "node_modules/vitest/vitest.mjs");
  const tests = spawn(process.execPath, [vitest, "run", ...given, ...files], {
    cwd: project,
    stdio: "inherit",
    // One engine for all files, whose code is compiled once.
    env: { ...process.env, AWS_ENDPOINT_URL_DYNAMODB: engine.endpoint },
  });
  const [status] = await once(tests, "exit");
  process.exitCode = status ?? 1;
} finally {
  await engine.close();
}
