/**
 * The life of a deployment on MiniStack, an emulation of AWS, with the real `cdk` and the real functions: `node test/deploy/deploy-test.ts
 * <ministack executable>`. Deploys, uses what is deployed, updates it to a next release while messages are in flight, goes back, goes
 * forward again, destroys it, and deploys it again. The table also holds what the release before wrote (test/releases).
 *
 * Prints a line for each guarantee that holds, and exits with status 1 at the first one that does not.
 */
import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { PutSecretValueCommand, SecretsManagerClient } from "@aws-sdk/client-secrets-manager";
import { startHibpServer } from "../../local/harness/hibp-server.ts";
import { startReceiver } from "../../local/harness/receiver.ts";
import { sign } from "../../shared/alerting/senders/signature.ts";
import { madeLately, recordings, store, storedRows, takeOverChannels, teach } from "../releases/recording.ts";
import { eventually } from "../service/eventually.ts";
import { BehindTheApi } from "./behind-the-api.ts";
import { type Caller, Deployment } from "./deployment.ts";
import { startMinistack } from "./ministack.ts";
import { newAttribute, writeNextRelease } from "./next-release.ts";

const project = join(import.meta.dirname, "..", "..");
const secret = "an invented signing secret";

const [executable] = process.argv.slice(2);
if (executable === undefined)
  throw new Error("Usage: node test/deploy/deploy-test.ts <ministack executable>");

const directory = mkdtempSync(join(tmpdir(), "breach-monitor-deploy-test-"));
const thisRelease = join(directory, "this-release");
const nextRelease = join(directory, "next-release");
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
Object.assign(process.env, ministack.variables);
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    ministack.end();
    process.exit(1);
  });
}
const deployment = new Deployment(ministack, "deploy-test", directory);
const behind = new BehindTheApi(deployment);

const began = Date.now();
const pass = (guarantee: string): void => {
  console.log(`ok: ${guarantee} (${Math.round((Date.now() - began) / 1000)} s)`);
};

const deploy = async (assembly: string): Promise<void> => {
  await deployment.deploy(assembly);
  process.env.TABLE_NAME = deployment.outputs.TableName;
};

/** Deploys, does `every` each second, and gives the statuses of a request that is also sent each second. */
const whileDeploying = async (
  assembly: string,
  key: string,
  every: () => Promise<void>,
): Promise<(number | undefined)[]> => {
  const statuses: (number | undefined)[] = [];
  let isDeployed = false;
  const ask = async (): Promise<void> => {
    while (!isDeployed) {
      await every();
      statuses.push((await deployment.call("GET", "/emails", { key })).status);
      await setTimeout(1_000);
    }
  };
  const deployed = deploy(assembly).finally(() => {
    isDeployed = true;
  });
  await Promise.all([ask(), deployed]);
  return statuses;
};

const scansOf = async (api: Caller) => (await api("GET", "/scans")).scans;
/** The sweep, which goes on with a scan that nothing was heard of for a minute, comes each five seconds meanwhile. */
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
  await Promise.all([deployment.bootstrap(), deployment.synthesize(project, thisRelease)]);
  await deploy(thisRelease);
  pass("cdk deploy creates the stack");

  const recording = madeLately(recordings.at(-1) ?? "", receiver.origin);
  teach(hibp, recording);
  await takeOverChannels(recording, deployment.outputs.ChannelKeyParameter ?? "");
  await store(recording.rows);
  await new SecretsManagerClient().send(
    new PutSecretValueCommand({
      SecretId: deployment.outputs.HibpSecretName,
      SecretString: "0".repeat(32),
    }),
  );

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
  // The recording's organizations have verified it too.
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

  // What schedules do, every minute; the sources of the next release are synthesized meanwhile
  const failed = await behind.failedDelivery(org, failingChannel);
  isFailing = false;
  await behind.makeDue(org, failed);
  await addEmail(breached("second@covered.example", "Alpha"));
  await behind.scanEveryMinute(org);
  writeNextRelease(nextRelease);
  const nextAssembly = join(directory, "next-assembly");
  await deployment.synthesize(nextRelease, nextAssembly, { senderEmail: "alerts@mail.example.com" });
  await untilAlerted("/failing/hook", 4);
  strictEqual((await behind.delivery(org, failed)).status?.S, "delivered");
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

  // The update, with messages of the release before and of this one in flight
  const recorded = (what: string): Caller => deployment.callerOf(recording.organizations[what]?.key ?? "");
  strictEqual((await recorded("used")("GET", "/emails")).total, 5);
  await addEmail(breached("third@covered.example", "Beta"));
  await behind.handOutAgainSoon();
  // Slow answers keep the scan in flight until its functions are replaced.
  hibp.latency = 4_000;
  await startScan(api);
  const messages = [...recording.messages];
  const sendNext = async (): Promise<void> => {
    const next = messages.shift();
    if (next !== undefined) await behind.sendMessage(next.queue, next.body);
  };
  const statuses = await whileDeploying(nextAssembly, key, sendNext);
  while (messages.length > 0) await sendNext();
  hibp.latency = 0;
  ok(statuses.length >= 5 && statuses.every((status) => status === 200), `While deploying: ${statuses}`);
  pass(`an update is deployed: all ${statuses.length} requests meanwhile are answered`);
  for (const caller of [api, recorded("planned"), recorded("checking")]) await untilScanned(caller);
  strictEqual((await api("GET", "/breaches")).total, 4);
  strictEqual((await recorded("planned")("GET", "/breaches")).total, 1);
  strictEqual((await recorded("checking")("GET", "/breaches")).total, 2);
  await eventually(
    () => recorded("acknowledging")("GET", "/breaches"),
    ({ unacknowledged }) => unacknowledged === 0,
  );
  for (const path of ["/alerted", "/failing/retrying"]) await untilAlerted(path, 1);
  pass("scans, alerts and requests that were in flight are done by the next release");

  // What the next release writes
  isFailing = true;
  const nextChannel = await addWebhook("/failing/next");
  await addEmail(breached("fourth@covered.example", "Alpha"));
  await startScan(api);
  await untilScanned(api);
  const open = await behind.failedDelivery(org, nextChannel);
  strictEqual((await behind.delivery(org, open)).v?.N, "2");
  ok((await storedRows()).filter((row) => row[newAttribute] !== undefined).length > 5);

  // The way back, with a scan of the next release in flight
  await addEmail(breached("fifth@covered.example", "Beta"));
  hibp.latency = 4_000;
  await api("POST", "/scans");
  await deploy(thisRelease);
  hibp.latency = 0;
  await untilScanned(api);
  strictEqual((await api("GET", "/breaches")).total, 6);
  strictEqual((await api("GET", "/emails")).total, 5);
  await untilAlerted("/hook", 5);
  pass("the release before takes over: a scan that was in flight ends, and its alert arrives");
  isFailing = false;
  const before = await behind.delivery(org, open);
  // The alert about the fifth address goes to the same channel, at any time.
  const deliveriesTo = (path: string) => attemptsAt(path).map(({ body }) => JSON.parse(String(body)).id);
  const attemptsOfOpen = () => deliveriesTo("/failing/next").filter((id) => id === open).length;
  const attempts = attemptsOfOpen();
  strictEqual(attempts, 3);
  const named = { organizationId: org, deliveryId: open, channelId: nextChannel, attempt: 4 };
  await behind.sendMessage("delivery-retries", JSON.stringify({ v: 2, ...named }));
  await behind.makeDue(org, open);
  await deployment.invokeAsSchedule("redispatch-alerts");
  await setTimeout(3_000);
  deepStrictEqual({ ...(await behind.delivery(org, open)), dueAt: before.dueAt }, before);
  strictEqual(attemptsOfOpen(), attempts);
  ok((await behind.messagesIn("delivery-retries")) > 0);
  pass("it leaves a row and a message alone whose versions it does not know");

  await deploy(nextAssembly);
  await behind.makeDue(org, open);
  await deployment.invokeAsSchedule("redispatch-alerts");
  await eventually(
    () => behind.delivery(org, open),
    ({ status }) => status?.S === "delivered",
    100,
  );
  strictEqual(attemptsOfOpen(), attempts + 1);
  pass("the next release, deployed again, does what was left: nothing is lost");

  await deployment.destroy(nextAssembly);
  await new DynamoDBClient().send(new DescribeTableCommand({ TableName: deployment.outputs.TableName }));
  pass("cdk destroy removes the stack and leaves the table");
  await deploy(thisRelease);
  const again = await deployment.admin("org", "create", "--name", "Deployed again");
  const other = await deployment.admin("key", "create", "--org", String(again.id), "--label", "deploy test");
  strictEqual((await deployment.callerOf(other.key)("GET", "/emails")).total, 0);
  pass("the stack is deployed again");
} catch (error) {
  process.exitCode = 1;
  console.error(`--- MiniStack, last lines\n${ministack.log()}`);
  console.error(error);
} finally {
  ministack.end();
  await Promise.all([hibp.close(), receiver.close()]);
  rmSync(directory, { recursive: true, force: true });
}
