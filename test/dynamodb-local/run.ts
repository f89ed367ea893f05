/**
 * Runs tests on DynamoDB Local, which AWS publishes, instead of the engine of local runs. Arguments are handed to
 * vitest; without any, the tests of the table, of lists and of the API's endpoints run.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findFreePort } from "../../local/loopback.ts";

const project = join(import.meta.dirname, "../..");
const jars = join(project, "node_modules/.cache/dynamodb-local");
const defaultTests = [
  "test/aws/table/",
  "test/lists/",
  "test/lists/",
  "test/local/dynamodb/limits.test.ts",
  "test/endpoints/",
];

const startTimeoutMilliseconds = 60_000;

/** Downloads DynamoDB Local and what it needs from Maven Central, unless they are there already. */
const download = (): void => {
  const pom = join(import.meta.dirname, "pom.xml");
  const options = ["-q", "-B", "-f", pom, "dependency:copy-dependencies", `-DoutputDirectory=${jars}`];
  const { error, status } = spawnSync("mvn", options, { stdio: "inherit" });
  if (error !== undefined) throw new Error("Install Maven and a JDK, 17 or newer, for DynamoDB Local.");
  if (status !== 0) throw new Error("Maven did not download DynamoDB Local: see above.");
};

/** Starts DynamoDB Local in memory, and gives its url and what stops it. */
const start = async (): Promise<{ url: string; stop: () => Promise<void> }> => {
  const port = await findFreePort();
  const child = spawn(
    "java",
    [
      `-Djava.library.path=${jars}`,
      `-Dsqlite4java.library.path=${jars}`,
      ...["-cp", join(jars, "*"), join(import.meta.dirname, "OnLoopback.java")],
      ...["-inMemory", "-disableTelemetry", "-port", String(port)],
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  process.once("exit", () => child.kill());
  const lines = createInterface({
    input: child.stdout,
    signal: AbortSignal.timeout(startTimeoutMilliseconds),
  });
  for await (const line of lines) {
    if (line !== "listening") continue;
    child.stdout.resume();
    return {
      url: `http://127.0.0.1:${port}`,
      stop: async () => {
        const ended = once(child, "exit");
        child.kill();
        await ended;
      },
    };
  }
  throw new Error("DynamoDB Local did not start: see above.");
};

download();
const dynamodb = await start();
try {
  const given = process.argv.slice(2);
  const vitest = join(project, "node_modules/vitest/vitest.mjs");
  const tests = spawn(process.execPath, [vitest, "run", ...(given.length > 0 ? given : defaultTests)], {
    cwd: project,
    stdio: "inherit",
    env: { ...process.env, AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url },
  });
  const [status] = await once(tests, "exit");
  process.exitCode = status ?? 1;
} finally {
  await dynamodb.stop();
}
