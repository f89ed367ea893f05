/**
 * The life of a deployment on MiniStack, an emulation of AWS, with the real `cdk` and functions:
 * `node test/deploy/deploy-test.ts <ministack executable>`. Sets up a deployment, interrupted at each step,
 * and uses it. Updates it with other options while messages are in flight, goes back, destroys it, and
 * deploys it again.
 *
 * Prints a line for each guarantee that holds. Exits with status 1 at the first one that does not.
 */
import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { startHibpServer } from "../../local/harness/hibp-server.ts";
import { startReceiver } from "../../local/harness/receiver.ts";
import { sign } from "../../shared/alerting/kinds/webhook/signature.ts";
import { eventually } from "../service/eventually.ts";
import { BehindTheApi } from "./behind-the-api.ts";
import { type Caller, Deployment } from "./deployment.ts";
import { startMinistack } from "./ministack.ts";

const secret = "an invented signing secret";
const hibpKey = "0123456789abcdef".repeat(2);

const answers = ["--yes", "--organization", "Acme", "--user", "you@acme.com", "--domain", "acme.com"];
/** Ctrl-U: a refused answer stays to be mended. */
const clear = "\x15";
const typed = [
  { asked: "Name of your organization", answer: "Acme" },
  { asked: "E-mail address of its first user", answer: "you at acme.com" },
  { asked: "E-mail address of its first user", answer: `${clear}you@acme.com` },
  { asked: "A domain", answer: "acme.com" },
  { asked: "API key of Have I Been Pwned", answer: `  ${hibpKey} ` },
  { asked: "Go on?", answer: "y" },
];

const [executable] = process.argv.slice(2);
if (executable === undefined)
  throw new Error("Usage: node test/deploy/deploy-test.ts <ministack executable>");

const directory = mkdtempSync(join(tmpdir(), "breach-monitor-deploy-test-"));
/** The release's sources with one more option: an update replaces every function that sends mail. */
const withSender = join(directory, "with-sender");
const hibp = await startHibpServer();
/** Whether the receiver fails at paths that begin with /failing. */
let isFailing = true;
const receiver = await startReceiver({
  respond: ({ url }, response) =>
    response.writeHead(isFailing && url?.startsWith("/failing") ? 500 : 204).end(),
});
const ministack = await startMinistack(executable, directory, {
  // Functions call no real server.
  HIBP_BASE_URL: hibp.url,
  OUTBOUND_ALLOWED_ORIGINS: receiver.origin,
});
// Other steps of CI use cdk.out at the same time.
Object.assign(process.env, ministack.variables, { CDK_OUTPUT: join(directory, "cdk.out") });
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    ministack.end();
    process.exit(1);
  });
}
const deployment = new Deployment(ministack, "deploy-test");
const behind = new BehindTheApi(deployment);

const began = Date.now();
const pass = (guarantee: string): void => {
  console.log(`ok: ${guarantee} (${Math.round((Date.now() - began) / 1000)} s)`);
};

/** Deploys, and gives the statuses of requests that two clients send meanwhile. A key may make 100 in a minute. */
const whileDeploying = async (assembly: string, key: string): Promise<(number | undefined)[]> => {
  const statuses: (number | undefined)[] = [];
  let isDeployed = false;
  const ask = async (): Promise<void> => {
    while (!isDeployed) {
      statuses.push((await deployment.call("GET", "/emails", { key })).status);
      await setTimeout(1_300);
    }
  };
  const deployed = deployment.deploy(assembly).finally(() => {
    isDeployed = true;
  });
  await Promise.all([ask(), ask(), deployed]);
  return statuses;
};

const scansOf = async (api: Caller) => (await api("GET", "/scans")).scans;
/** The sweep goes on with a scan that was silent for a minute. It comes each five seconds meanwhile. */
const untilScanned = async (api: Caller) => {
  const sweeps = setInterval(() => deployment.invokeAsSchedule("sweep").catch(console.error), 5_000);
  try {
    return await eventually(
      () => scansOf(api),
      ([latest]) => latest?.status === "completed",
      150,
    );
  } finally {
    clearInterval(sweeps);
  }
};
/** Starts a scan, after the one that may be in progress. */
const startScan = async (api: Caller): Promise<void> => {
  await untilScanned(api);
  await api("POST", "/scans");
};
const attemptsAt = (path: string) => receiver.requests.filter((request) => request.path === path);
const untilAlerted = (path: string, count: number) =>
  eventually(
    async () => attemptsAt(path),
    (attempts) => attempts.length >= count,
    100,
  );
const breached = (address: string, ...names: string[]): string => {
  hibp.accounts[address] = names;
  return address;
};

try {
  const plain = await deployment.unpackRelease(directory);
  pass("a release is made and unpacked");
  const printed = [await deployment.setup(plain, { type: typed, until: "[1/" })];
  match(printed[0] ?? "", /That must be an e-mail address/);
  pass(
    "setup asks at a terminal, asks again after a wrong answer, says what it will do, and is ended while it bootstraps",
  );
  // The key is read until it is stored, with what people paste around it.
  for (const until of ["CREATE_IN_PROGRESS", "[3/7]", "[4/7]", "[5/7]", "[6/7]", "[7/7]"]) {
    const args = [...answers, "--skip-test"];
    printed.push(await deployment.setup(plain, { args, until, key: ` ${hibpKey} \r\n` }));
  }
  await deployment.readOutputs();
  pass("setup is ended at each further step, and goes on");
  // Operators do this after the first deployment. Meanwhile the test invokes every ten seconds what schedules
  // invoke every one or five minutes.
  const sweeps = setInterval(() => {
    for (const name of ["sweep", "redispatch-alerts"]) deployment.invokeAsSchedule(name).catch(console.error);
  }, 10_000);
  const testing = ["--webhook", `${receiver.origin}/smoke`, "--api", deployment.baseUrl];
  printed.push(
    await deployment.setup(plain, { args: [...answers, ...testing] }).finally(() => clearInterval(sweeps)),
  );
  match(printed.at(-1) ?? "", /\d+ checks, 0 failed\./);
  match(printed.at(-1) ?? "", /Open within 15 minutes: https:.*sign-in#/);
  pass("setup tests the deployment and prints a link");
  const again = await deployment.setup(plain, { args: [...answers, "--skip-test"] });
  strictEqual(again.match(/: done already/g)?.length, 5);
  const { organizations } = await deployment.admin("org", "list");
  // That of the deployment test may still be going.
  const [acme, ...others] = organizations.filter(({ name }: { name: string }) => name !== "Deployment test");
  deepStrictEqual([acme.name, others], ["Acme", []]);
  const ofAcme = ["--org", String(acme.id)];
  const { users } = await deployment.admin("user", "list", ...ofAcme);
  deepStrictEqual(
    users.map(({ email, role }: Record<string, string>) => [email, role]),
    [["you@acme.com", "admin"]],
  );
  const { domains } = await deployment.admin("domain", "list", ...ofAcme);
  deepStrictEqual(
    domains.map(({ name, verified }: Record<string, unknown>) => [name, verified]),
    [["acme.com", true]],
  );
  const Name = deployment.outputs.HibpApiKeyParameter;
  const { Parameter } = await new SSMClient().send(new GetParameterCommand({ Name, WithDecryption: true }));
  strictEqual(Parameter?.Value, hibpKey);
  ok(![...printed, again].join("").includes(hibpKey));
  pass("setup changes nothing once it is done; everything is there once, and no output has the key");

  // What API Gateway and the authorizer do
  const withoutKey = await deployment.call("GET", "/emails");
  strictEqual(withoutKey.status, 401);
  strictEqual(withoutKey.body.error, "A valid API key or session is required");
  pass("a request without a key is 401 with the contract's body");
  const { id: org } = await deployment.admin("org", "create", "--name", "Deployed");
  const ofOrg = ["--org", String(org)];
  const { key } = await deployment.admin("key", "create", ...ofOrg, "--label", "deploy test");
  const api = deployment.callerOf(key);
  pass("the admin command line works on the deployed stack");
  const otherMethod = await deployment.call("DELETE", "/scans", { key });
  strictEqual(otherMethod.status, 405);
  strictEqual(otherMethod.headers.allow, "POST, GET");
  strictEqual((await deployment.call("GET", "/nothing/here", { key })).status, 404);
  pass("an undeclared method is 405 with Allow, an unknown path 404");

  // From an address to an alert
  const addDomain = ["domain", "add", ...ofOrg, "--name", "covered.example", "--verified"];
  const { id: first } = await deployment.admin("org", "create", "--name", "First");
  await deployment.admin("domain", "add", "--org", String(first), "--name", "covered.example", "--verified");
  await rejects(deployment.admin(...addDomain), /--force verifies it/);
  pass("a name that is verified for another organization needs --force");
  const domain = await deployment.admin(...addDomain, "--force");
  const addEmail = (email: string) => api("POST", "/emails", { email, domainId: domain.id });
  const addWebhook = async (path: string): Promise<number> => {
    const config = { url: `${receiver.origin}${path}`, secret };
    return (await api("POST", "/alert-configs", { channel: "webhook", config })).id;
  };
  await addWebhook("/hook");
  const failingChannel = await addWebhook("/failing/hook");
  await addEmail(breached("first@covered.example", "Alpha", "Beta"));
  await api("POST", "/scans");
  await untilScanned(api);
  strictEqual((await api("GET", "/breaches")).total, 2);
  const [alert] = await untilAlerted("/hook", 1);
  strictEqual(alert?.headers["x-service-signature"], sign(alert?.body ?? "", secret));
  strictEqual(JSON.parse(String(alert?.body)).data.breaches.length, 2);
  pass("an address is scanned, its findings are listed, and a signed webhook arrives");

  // What schedules do, every minute; the update is synthesized meanwhile
  const failed = await behind.failedDelivery(org, failingChannel);
  isFailing = false;
  await behind.makeDue(org, failed);
  await addEmail(breached("second@covered.example", "Alpha"));
  await behind.scanEveryMinute(org);
  await deployment.synthesize(withSender, { senderEmail: "alerts@mail.example.com" });
  // A scan may send an alert of its own before the re-dispatch.
  await eventually(
    async () => (await behind.delivery(org, failed)).status?.S,
    (status) => status === "delivered",
    120,
  );
  pass("the schedule re-dispatches a delivery that failed");
  const isScheduled = ({ type, status, newBreachesFound }: Record<string, unknown>): boolean =>
    type === "scheduled" && status === "completed" && newBreachesFound === 1;
  await eventually(
    () => scansOf(api),
    (scans) => scans.some(isScheduled),
    100,
  );
  await deployment.admin("scan", "schedule", ...ofOrg, "--every", "never");
  pass("the schedule of an organization starts a scan");

  // The update and the way back, each with a scan in flight: slow answers keep it until its functions are replaced.
  const updateTo = async (assembly: string): Promise<(number | undefined)[]> => {
    hibp.latency = 4_000;
    await startScan(api);
    const statuses = await whileDeploying(assembly, key);
    hibp.latency = 0;
    await untilScanned(api);
    return statuses;
  };
  await addEmail(breached("third@covered.example", "Beta"));
  await behind.handOutAgainSoon();
  const statuses = await updateTo(withSender);
  ok(statuses.length >= 5 && statuses.every((status) => status === 200), `While deploying: ${statuses}`);
  pass(`an update is deployed: all ${statuses.length} requests meanwhile are answered`);
  strictEqual((await api("GET", "/breaches")).total, 4);
  await untilAlerted("/hook", 3);
  pass("a scan and an alert that were in flight are done after the update");

  isFailing = true;
  const laterChannel = await addWebhook("/failing/later");
  await addEmail(breached("fourth@covered.example", "Alpha"));
  await startScan(api);
  await untilScanned(api);
  const open = await behind.failedDelivery(org, laterChannel);
  await addEmail(breached("fifth@covered.example", "Beta"));
  await updateTo(plain);
  strictEqual((await api("GET", "/breaches")).total, 6);
  strictEqual((await api("GET", "/emails")).total, 5);
  await untilAlerted("/hook", 5);
  pass("the way back: a scan that was in flight ends, and its alert arrives");
  isFailing = false;
  await behind.makeDue(org, open);
  await deployment.invokeAsSchedule("redispatch-alerts");
  await eventually(
    () => behind.delivery(org, open),
    ({ status }) => status?.S === "delivered",
    100,
  );
  pass("what could not be sent before the way back is sent after it");

  await deployment.destroy(plain);
  await new DynamoDBClient().send(new DescribeTableCommand({ TableName: deployment.outputs.TableName }));
  pass("cdk destroy removes the stack and leaves the table");
  await deployment.setup(undefined, { args: [...answers, "--skip-test"], key: hibpKey });
  await deployment.readOutputs();
  const { id: last } = await deployment.admin("org", "create", "--name", "Deployed again");
  const other = await deployment.admin("key", "create", "--org", String(last), "--label", "deploy test");
  strictEqual((await deployment.callerOf(other.key)("GET", "/emails")).total, 0);
  pass("setup deploys the sources again, beside the table that was left");
} catch (error) {
  process.exitCode = 1;
  console.error(`--- MiniStack, last lines\n${ministack.log()}`);
  console.error(error);
} finally {
  ministack.end();
  await Promise.all([hibp.close(), receiver.close()]);
  rmSync(directory, { recursive: true, force: true });
}
