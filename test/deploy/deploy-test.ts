/**
 * Deploys the stack with the real `cdk bootstrap` and `cdk deploy` to MiniStack, an emulation of AWS, sends
 * requests to the deployed API and destroys the stack: `node test/deploy/deploy-test.ts <ministack
 * executable>`.
 *
 * It prints a line for each guarantee that holds, and exits with status 1 at the first one that does not.
 * MiniStack listens on 127.0.0.1 only and ends with this process.
 */
import { ok, strictEqual } from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const project = join(import.meta.dirname, "..", "..");
const stage = "deploy-test";
const stackName = `breach-monitor-${stage}`;
const secondsToStart = 60;

const [ministack] = process.argv.slice(2);
if (ministack === undefined) throw new Error("Usage: node test/deploy/deploy-test.ts <ministack executable>");

const directory = mkdtempSync(join(tmpdir(), "breach-monitor-deploy-test-"));
const port = await findFreePort();
const aws = {
  AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
  AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}`,
  AWS_ACCESS_KEY_ID: "test",
  AWS_SECRET_ACCESS_KEY: "test",
  AWS_REGION: "us-east-1",
  AWS_DEFAULT_REGION: "us-east-1",
  // The developer's own AWS configuration is not used.
  AWS_CONFIG_FILE: "/dev/null",
  AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
  AWS_EC2_METADATA_DISABLED: "true",
};

const server = startMinistack(ministack);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    end(server);
    process.exit(1);
  });
}
try {
  await waitUntilListening();
  await cdk("bootstrap", "aws://000000000000/us-east-1");
  await cdk("deploy", "--require-approval", "never", "--outputs-file", join(directory, "outputs.json"));
  pass("cdk deploy creates the stack");
  const outputs = JSON.parse(readFileSync(join(directory, "outputs.json"), "utf8"))[stackName];
  const host = `${new URL(outputs.ApiUrl).host.split(".")[0]}.execute-api.127.0.0.1:${port}`;

  const withoutKey = await send(host, "GET", "/emails");
  strictEqual(withoutKey.status, 401);
  strictEqual(withoutKey.body.error, "A valid API key or session is required");
  pass("a request without a key is 401 with the contract's body");

  const organization = await admin("org", "create", "--name", "Deployed");
  const { key } = await admin("key", "create", "--org", String(organization.id), "--label", "deploy test");
  pass("the admin command line works on the deployed stack");

  const emails = await send(host, "GET", "/emails", key);
  strictEqual(emails.status, 200);
  strictEqual(emails.body.total, 0);
  pass("a request with a key is answered by its endpoint");

  const otherMethod = await send(host, "DELETE", "/scans", key);
  strictEqual(otherMethod.status, 405);
  strictEqual(otherMethod.headers.allow, "POST, GET");
  pass("an undeclared method is 405 with Allow");

  const otherPath = await send(host, "GET", "/nothing/here", key);
  strictEqual(otherPath.status, 404);
  ok(typeof otherPath.body.error === "string");
  pass("an unknown path is 404");

  await cdk("destroy", "--force");
  pass("cdk destroy removes the stack");
} catch (error) {
  process.exitCode = 1;
  console.error(error);
  console.error(
    `--- MiniStack, last lines\n${readFileSync(join(directory, "ministack.log"), "utf8").slice(-4000)}`,
  );
} finally {
  end(server);
  rmSync(directory, { recursive: true, force: true });
}

function pass(guarantee: string): void {
  console.log(`ok: ${guarantee}`);
}

async function cdk(...args: string[]): Promise<void> {
  const output = ["--output", join(directory, "cdk.out"), "--no-notices", "--ci", "--progress", "events"];
  const context = ["--context", `stage=${stage}`];
  await run(join(project, "node_modules", "aws-cdk", "bin", "cdk"), [...args, ...output, ...context]);
}

async function admin(...args: string[]) {
  return JSON.parse(await run(join(project, "bin", "admin.ts"), [...args, "--stack", stackName, "--json"]));
}

/**
 * Runs a script with this Node and gives its standard output. An error holds the output and the error output.
 */
async function run(script: string, args: string[]): Promise<string> {
  const child = spawn(process.execPath, [script, ...args], {
    cwd: project,
    env: { ...process.env, ...aws, CDK_DISABLE_CLI_TELEMETRY: "true" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  let failure = "";
  child.stdout.on("data", (chunk) => {
    printed += chunk;
  });
  child.stderr.on("data", (chunk) => {
    failure += chunk;
  });
  const [status] = await once(child, "close");
  if (status !== 0) throw new Error(`${script} ${args.join(" ")}\n${printed}\n${failure}`);
  return printed;
}

/** Sends a request to the deployed API, which MiniStack recognizes by the Host header. */
async function send(host: string, method: string, path: string, key?: string) {
  const outgoing = request({
    host: "127.0.0.1",
    port,
    method,
    path: `/api/v1${path}`,
    headers: { Host: host, ...(key !== undefined && { Authorization: `Bearer ${key}` }) },
    timeout: 60_000,
  });
  outgoing.end();
  const [response] = await once(outgoing, "response");
  let body = "";
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, headers: response.headers, body: JSON.parse(body) };
}

/** Starts MiniStack in a process group of its own, so that its functions can be ended with it. */
function startMinistack(executable: string): ChildProcess {
  const log = createWriteStream(join(directory, "ministack.log"));
  const child = spawn(executable, [], {
    cwd: directory,
    detached: true,
    env: {
      ...process.env,
      ...aws,
      GATEWAY_PORT: String(port),
      MINISTACK_HOST: "127.0.0.1",
      BIND_HOST: "127.0.0.1",
      IOT_MTLS_ENABLED: "0",
      STATE_DIR: join(directory, "state"),
      S3_DATA_DIR: join(directory, "s3"),
      TMPDIR: directory,
      // Functions inherit this url of a closed port: none may call the real Have I Been Pwned.
      HIBP_BASE_URL: "http://127.0.0.1:9",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout?.pipe(log);
  child.stderr?.pipe(log);
  return child;
}

function end({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has ended already.
  }
}

async function waitUntilListening(): Promise<void> {
  for (const deadline = Date.now() + secondsToStart * 1000; Date.now() < deadline; ) {
    const answered = await fetch(aws.AWS_ENDPOINT_URL).then(
      () => true,
      () => false,
    );
    if (answered) return;
    if (server.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`MiniStack did not start within ${secondsToStart} s`);
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
