/**
 * What is secret of alert channels is sealed before it reaches the table, and opens in its own row alone.
 * What a sensitive breach is called, and whom it names, is in no log, however receivers and HIBP answer.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DeleteParameterCommand, PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { undisturbed } from "../../local/dynamodb/behaviour.ts";
import { type Engine, startEngine } from "../../local/dynamodb/engine.ts";
import { startBehavingDynamodb } from "../../local/harness/behaving-dynamodb.ts";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import type { LocalService } from "../../local/harness/service.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { open } from "../../shared/alerting/channels/seal.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { defaults } from "../alerting/channels.ts";
import { storedRows } from "../aws/table/stored-rows.ts";
import { untilMailed } from "../dashboard/outbox.ts";
import { admin } from "./admin.ts";
import { createChannel, signatureOf } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { type LocalStack, readLocalStack, readLogs } from "./local-stack.ts";
import { createOrganization, type Organization } from "./organization.ts";
import { startOwnService } from "./own-service.ts";
import { scan } from "./scan.ts";

/** Parts of urls and secrets that nothing but the receiver may see. */
const secrets = ["WEBHOOK-PATH", "SLACK-PATH", "SIGNING-SECRET", "MOVED-PATH", "PLAIN-PATH", "OLD-SECRET"];

/** HIBP's latest breach. */
const sensitive = { ...inventedBreach("HiddenClinic", "Hidden Clinic of Ys"), IsSensitive: true };

let receiver: Receiver;
let hibp: HibpServer;
let engine: Engine;
let proxy: Awaited<ReturnType<typeof startBehavingDynamodb>>;
let service: LocalService;
let stack: LocalStack;
let organization: Organization;
/** Every request to the table, as JSON. */
let asked: string[] = [];

beforeAll(async () => {
  [receiver, hibp, engine] = await Promise.all([
    // To one whom it fails it answers with what it was told.
    startReceiver({
      respond: ({ url = "" }, response) =>
        url.startsWith("/failing-")
          ? response.writeHead(500).end(receiver.requests.at(-1)?.body)
          : response.writeHead(204).end(),
    }),
    startHibpServer(),
    startEngine(undefined),
  ]);
  hibp.catalog = [...hibp.catalog, sensitive];
  hibp.covered = ["covered.example"];
  proxy = await startBehavingDynamodb(engine.endpoint, undisturbed, (_, body, answer) => {
    asked.push(JSON.stringify(body), answer.body.toString());
  });
  const options = ["--memory", "--hibp-url", hibp.url, "--allow-origin", receiver.origin];
  service = await startOwnService(options, { AWS_ENDPOINT_URL_DYNAMODB: proxy.url });
  stack = await readLocalStack(service.apiUrl);
  organization = await createOrganization({}, { apiUrl: service.apiUrl });
});
afterAll(async () => {
  await service?.stop();
  await Promise.all([proxy?.close(), receiver?.close(), hibp?.close()]);
  await engine?.close();
});

/** No other channel is announced to it. */
const webhook = (path: string, secret?: string) => ({
  channel: "webhook",
  notifyOnScanError: false,
  config: { url: `${receiver.origin}/${path}`, ...(secret !== undefined && { secret }) },
});

/** Sends a test event to a channel; gives what the receiver gets at the path. */
const testAt = async (channel: number, path: string) => {
  const of = () => receiver.requests.filter((request) => request.path === `/${path}`);
  const before = of().length;
  await admin("channel test", { org: organization.id, channel }, service.apiUrl);
  const all = await eventually(
    async () => of(),
    (requests) => requests.length > before,
  );
  return all.at(-1);
};

const rowOf = async (id: number) =>
  (await table.get<Record<string, unknown>>(keys.channel(organization.id, id))) ?? {};

/** Tests a channel whose config does not open, with the path of its url; gives the line of the log. */
const failingTest = async (channel: number, path: string, what: RegExp): Promise<string> => {
  await admin("channel test", { org: organization.id, channel }, service.apiUrl);
  const name = (stack.outputs.ScheduledScanFunctionArn ?? "").replace(/^.*:/, "");
  const file = `${name.replace("start-scheduled-scan", "deliver-alert")}.log`;
  const log = await eventually(
    () => readFile(join(stack.dataDirectory, "logs", file), "utf8").catch(() => ""),
    (text) => what.test(text),
  );
  expect(receiver.requests.filter((request) => request.path === `/${path}`)).toEqual([]);
  return log.split("\n").find((line) => what.test(line)) ?? "";
};

test("nothing secret of a channel is in any request to the table, nor in any row", async () => {
  const { api } = organization;
  asked = [];
  const hook = await createChannel(api, webhook("WEBHOOK-PATH", "SIGNING-SECRET-1"));
  const slack = await createChannel(api, {
    channel: "slack",
    config: { webhookUrl: `${receiver.origin}/SLACK-PATH` },
  });
  await createChannel(api, { channel: "email", config: { recipients: ["ada@acme.example"] } });
  const moved = { config: { url: `${receiver.origin}/MOVED-PATH` } };

  const first = await testAt(hook, "WEBHOOK-PATH");
  expect((await api.patch(`/alert-configs/${hook}`, moved)).status).toBe(200);
  const second = await testAt(hook, "MOVED-PATH");
  for (const request of [first, second]) {
    const signature = signatureOf(request?.body ?? Buffer.alloc(0), "SIGNING-SECRET-1");
    expect(request?.headers["x-service-signature"]).toBe(signature);
  }
  await testAt(slack, "SLACK-PATH");
  const file = join(stack.dataDirectory, "export.jsonl");
  await admin("org export", { org: organization.id, file }, service.apiUrl);

  const seen = [...asked, JSON.stringify(await storedRows()), await readFile(file, "utf8")];
  expect(asked.length).toBeGreaterThan(20);
  expect(secrets.filter((secret) => seen.some((text) => text.includes(secret)))).toEqual([]);
  // In base64, too, the url would begin with its scheme.
  const url = Buffer.from(`{"url":"http`).toString("base64url").slice(0, -2);
  expect(seen.some((text) => text.includes(url))).toBe(false);
});

test("what is sealed opens in no other channel and no other organization", async () => {
  const { id: org, api } = organization;
  const [from, to] = [
    await createChannel(api, webhook("from", "SIGNING-SECRET-2")),
    await createChannel(api, webhook("to")),
  ];
  const { sealed, config } = await rowOf(from);
  const own = await rowOf(to);
  await table.update(keys.channel(org, to), { set: { sealed, config } });
  const line = await failingTest(
    to,
    "to",
    new RegExp(`alert channel ${to} of organization ${org} cannot be opened`),
  );
  expect(secrets.filter((secret) => line.includes(secret))).toEqual([]);
  const reply = await api.patch(`/alert-configs/${to}`, { config: { secret: "" } });
  expect(reply).toMatchObject({ status: 400 });
  // Its flags can still be changed, and it can be deleted.
  expect((await api.patch(`/alert-configs/${to}`, { notifyOnScanError: false })).status).toBe(200);

  const other = await createOrganization({}, { apiUrl: service.apiUrl, domain: "other.example" });
  await table.put({ ...own, ...keys.channel(other.id, to), sealed: own.sealed } as never);
  const elsewhere = await other.api.patch(`/alert-configs/${to}`, { config: { secret: "" } });
  expect(elsewhere).toMatchObject({ status: 400 });

  await table.update(keys.channel(org, to), { set: { sealed: own.sealed, config: own.config } });
  await testAt(to, "to");
  expect((await api.delete(`/alert-configs/${to}`)).status).toBe(200);
});

test("what was changed, or sealed for another kind of channel, does not open", async () => {
  const { id: org, api } = organization;
  const id = await createChannel(api, webhook("changed", "SIGNING-SECRET-3"));
  const { sealed } = (await rowOf(id)) as { sealed: string };
  const last = sealed.at(-6) === "A" ? "B" : "A";
  for (const change of [
    { sealed: `${sealed.slice(0, -6)}${last}${sealed.slice(-5)}` },
    { sealed: sealed.replace(/^1/, "2") },
    { sealed: "1.." },
    { sealed, channel: "slack", config: { hasWebhookUrl: true } },
  ]) {
    await table.update(keys.channel(org, id), { set: change });
    const channel = await channels.get(org, id);
    await expect(channel && open(org, channel)).rejects.toThrow(`alert channel ${id} of organization ${org}`);
  }
});

const people = ["ada.lovelace@covered.example", "grace.hopper@covered.example"];
const refused = "mary.somerville@single.example";

test("no log names a sensitive breach or an address, whatever fails", async () => {
  hibp.accounts = Object.fromEntries(people.map((address) => [address, ["HiddenClinic", "Alpha"]]));
  hibp.fail = (path) => (path.startsWith("breachedaccount/") ? { status: 400, body: refused } : undefined);
  const { apiUrl } = service;
  const { api, id: org, domainId } = await createOrganization({}, { domain: "covered.example", apiUrl });
  const other = await admin("domain add", { org, name: "single.example", verified: true }, apiUrl);
  for (const email of people) expect((await api.post("/emails", { email, domainId })).status).toBe(201);
  expect((await api.post("/emails", { email: refused, domainId: other.id })).status).toBe(201);
  const named = ["slack", "webhook"].map((name) => `${receiver.origin}/failing-${name}`);
  const slackId = await createChannel(api, { channel: "slack", config: { webhookUrl: named[0] } });
  await api.put(`/alert-configs/${slackId}/options`, { ...defaults, sensitive: "named" });
  await createChannel(api, { channel: "webhook", config: { url: named[1] } });
  // The last one, so that no channel is announced to it.
  const config = { recipients: ["security.team@acme.example"] };
  const emailId = await createChannel(api, { channel: "email", config });
  const options = { ...defaults, sensitive: "named", tellOwners: true };
  expect((await api.put(`/alert-configs/${emailId}/options`, options)).status).toBe(200);
  expect(await scan(api)).toMatchObject({ status: "completed", scannedEmails: 2, totalEmails: 3 });

  // Three attempts each, and mails to the channel and to the owners.
  const requests = await eventually(
    async () =>
      receiver.requests.filter(
        ({ path, body }) => path.startsWith("/failing-") && !body.includes("which is new"),
      ),
    (all) => all.length >= 2 * people.length * 3,
  );
  const mails = [
    ...(await untilMailed("security.team@acme.example", people.length, apiUrl)),
    ...(await Promise.all(people.map((address) => untilMailed(address, 1, apiUrl)))).flat(),
  ];
  const bodies = requests.map(({ body }) => body.toString("utf8"));
  for (const name of [sensitive.Title, ...people]) {
    for (const texts of [mails, bodies]) expect(texts.some((text) => text.includes(name))).toBe(true);
  }
  const logs = (await readLogs(service.apiUrl)).split("\n");
  for (const line of ["catalog synced", "scan ended", "delivery", "request"])
    expect(logs.some((each) => each.includes(`"message":"${line}"`))).toBe(true);
  const names = [sensitive.Name, sensitive.Title, sensitive.Domain, ...people, refused, ...config.recipients];
  const parts = names.map((name) => name.split("@", 1)[0]?.toLowerCase() ?? "");
  expect(logs.filter((line) => parts.some((part) => line.toLowerCase().includes(part)))).toEqual([]);
});

test("a new key seals at once; channels of the former one need their config again", async () => {
  const { id: org, api } = organization;
  const Name = stack.outputs.ChannelKeyParameter ?? "";
  const operator = new SSMClient({});
  const check = async () => {
    const { notOpened } = await admin("channel check", {}, service.apiUrl);
    const all = notOpened as { organizationId: number; channelId: number }[];
    return all.filter(({ organizationId }) => organizationId === org).map(({ channelId }) => channelId);
  };
  const id = await createChannel(api, webhook("rotated", "SIGNING-SECRET-4"));
  expect(await check()).not.toContain(id);

  const Value = Buffer.alloc(32, 7).toString("base64");
  await operator.send(new PutParameterCommand({ Name, Type: "SecureString", Value, Overwrite: true }));
  const newer = await createChannel(api, webhook("newer", "SIGNING-SECRET-5"));
  expect(await check()).toContain(id);
  expect(await check()).not.toContain(newer);
  // Functions that are in use may know the former key.
  const { sealed } = (await rowOf(id)) as { sealed: string };
  const unknown = sealed.replace(/^1\.[^.]+/, "1.unknown0");
  await table.update(keys.channel(org, id), { set: { sealed: unknown } });
  await failingTest(id, "rotated", new RegExp(`alert channel ${id} .*does not hold its key unknown0`));
  const patch = (config: object) => api.patch(`/alert-configs/${id}`, { config });
  expect(await patch({ secret: "SIGNING-SECRET-6" })).toMatchObject({ status: 400 });
  expect(await patch(webhook("mended", "SIGNING-SECRET-6").config)).toMatchObject({ status: 200 });
  expect(await check()).not.toContain(id);
  const { headers, body } = (await testAt(id, "mended")) ?? {};
  expect(headers?.["x-service-signature"]).toBe(signatureOf(body as Buffer, "SIGNING-SECRET-6"));
  expect((await testAt(newer, "newer"))?.headers["x-service-signature"]).toEqual(expect.any(String));

  await operator.send(new DeleteParameterCommand({ Name }));
  await table.update(keys.channel(org, id), { set: { sealed: unknown } });
  await failingTest(id, "rotated", /channel-key with the key of alert channels does not exist/);
});
