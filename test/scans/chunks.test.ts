import { Logger } from "@aws-lambda-powertools/logger";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { buildApp } from "fauxqs";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as emails from "../../shared/emails/email.ts";
import type { MonitoredEmail } from "../../shared/emails/schema.ts";
import { rangeName } from "../../shared/emails/watermark.ts";
import * as findings from "../../shared/findings/finding.ts";
import { importAll } from "../../shared/imports/commit.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as domains from "../../shared/organizations/domain.ts";
import * as organizations from "../../shared/organizations/organization.ts";
import { type Message, messages, type QueueName } from "../../shared/queue/messages.ts";
import * as queue from "../../shared/queue/queue.ts";
import { check } from "../../shared/scans/check.ts";
import { end } from "../../shared/scans/complete.ts";
import { plan } from "../../shared/scans/plan.ts";
import { chunkName, maximumRanges, rangesOfChunk, scans } from "../../shared/scans/record.ts";
import { start } from "../../shared/scans/scan.ts";
import { blockOf } from "../../shared/table/blocks.ts";
import { condition, conditionFields } from "../../shared/table/condition.ts";
import { reply, startUpstream, type UpstreamServer } from "../catalog/upstream-server.ts";
import { activeBilling } from "../organizations/billing.ts";
import { type Engine, startEngine } from "../table/engine.ts";

const domainName = "sparse.example";
/** Of three blocks. */
const addressCount = 1_100;
const logger = new Logger({ logLevel: "SILENT" });
const invocation = { logger, remainingSeconds: () => 300 };

let engine: Engine;
let upstream: UpstreamServer;
const queues = buildApp({ logger: false });
let org: number;

/** Index of an address to the breaches that it is in. */
let breached: Record<number, string[]> = {};

beforeAll(async () => {
  engine = await startEngine();
  upstream = await startUpstream();
  upstream.answer = (path, _request, response) => {
    const answers: Record<string, unknown> = {
      "subscription/status": { Rpm: 6000 },
      subscribeddomains: [{ DomainName: domainName }],
      [`breacheddomain/${domainName}`]: Object.fromEntries(
        Object.entries(breached).map(([index, names]) => [`user${index}`, names]),
      ),
    };
    const answer = answers[path];
    reply(response, answer === undefined ? 404 : 200, answer);
  };
  const url = await queues.listen({ host: "127.0.0.1", port: 0 });
  vi.stubEnv("AWS_ENDPOINT_URL_SQS", url);
  for (const name of ["scan-plans", "scan-chunks", "scan-lookups", "deliveries"]) {
    await new SQSClient().send(new CreateQueueCommand({ QueueName: name }));
    vi.stubEnv(`${name.toUpperCase().replaceAll("-", "_")}_QUEUE_URL`, `${url}/000000000000/${name}`);
  }

  ({ id: org } = await organizations.create({ name: "Test", billing: activeBilling, scanEvery: "never" }));
  const domain = await domains.create(org, { name: domainName, verified: true });
  if (domain === "exists") throw new Error(`${domainName} is there`);
  const rows = Array.from({ length: addressCount }, (_, index) => ({
    email: `user${index}@${domainName}`,
    domainId: domain.id,
    ownerName: null,
  }));
  await importAll(org, rows, administrator);
}, 60_000);

afterAll(async () => {
  vi.unstubAllEnvs();
  await queues.close();
  await upstream.stop();
  await engine.stop();
});

/** Takes all messages of a queue. */
const take = async <Q extends QueueName>(name: Q): Promise<Message<Q>[]> => {
  vi.stubEnv("SOURCE_QUEUE_URL", process.env[`${name.toUpperCase().replaceAll("-", "_")}_QUEUE_URL`]);
  const taken: Message<Q>[] = [];
  for (;;) {
    const received = await queue.receive(10, 0);
    if (received.length === 0) return taken;
    for (const { body, receiptHandle } of received) {
      taken.push(messages[name].parse(JSON.parse(body)) as Message<Q>);
      await queue.remove(receiptHandle);
    }
  }
};

/** Starts a scan and plans it; its id and the messages that were to be sent to those that check. */
const planned = async (): Promise<{ scanId: number; chunks: Message<"scan-chunks">[] }> => {
  const scanId = await start(org, "manual", administrator);
  for (const message of await take("scan-plans")) await plan(message, invocation);
  return { scanId, chunks: await take("scan-chunks") };
};

const blocksOf = ({ chunk }: Message<"scan-chunks">): number[] =>
  rangesOfChunk(chunk).map(({ fromId, toId }) => {
    expect(blockOf(fromId)).toBe(blockOf(toId));
    return blockOf(fromId);
  });

const scanned = async (scanId: number) => {
  const scan = await scans.get(org, scanId);
  return { ...scan, status: scan && scans.facetOf(scan).status };
};

/** Of the addresses of these indexes, all of which are listed with it: when they were last scanned. */
const lastScans = async (indexes: readonly number[]): Promise<(string | null)[]> => {
  const all: MonitoredEmail[] = [];
  for (let offset = 0; offset < addressCount; offset += 100) {
    all.push(...(await emails.list(org, { limit: 100, offset })).emails);
  }
  return indexes.map(
    (index) => all.find(({ email }) => email === `user${index}@${domainName}`)?.lastScannedAt ?? null,
  );
};

test("a few changes of many blocks are one chunk, which can come twice; many of a block are one of their own", async () => {
  breached = { 3: ["Alpha"], 600: ["Alpha", "Beta"], 1090: ["Beta"] };
  const few = await planned();
  expect(few.chunks.map(({ changes }) => changes.length)).toEqual([3]);
  expect(new Set(few.chunks.flatMap(blocksOf)).size).toBe(3);
  for (const chunk of [...few.chunks, ...few.chunks]) await check(chunk, invocation);
  expect(await scanned(few.scanId)).toMatchObject({
    status: "completed",
    totalEmails: addressCount,
    scannedEmails: addressCount,
    newBreachesFound: 4,
    remaining: {},
  });

  for (let index = 0; index < 150; index++) breached[index] = ["Alpha"];
  breached[601] = ["Alpha"];
  breached[1_091] = ["Alpha"];
  const many = await planned();
  // One of those 150 has been found before.
  expect(many.chunks.map(({ changes }) => changes.length).sort((a, b) => b - a)).toEqual([149, 2]);
  for (const chunk of many.chunks) await check(chunk, invocation);
  expect(await scanned(many.scanId)).toMatchObject({
    status: "completed",
    scannedEmails: addressCount,
    newBreachesFound: 151,
  });
  expect((await findings.list(org, { limit: 1, offset: 0 })).total).toBe(155);
});

test("a chunk of several blocks whose message is lost is sent again, with the same changes", async () => {
  breached = { ...breached, 4: ["Alpha", "Beta"], 602: ["Beta"], 1092: ["Beta"] };
  const { scanId, chunks: lost } = await planned();
  expect(lost).toHaveLength(1);
  await plan({ organizationId: org, scanId, resume: true }, invocation);
  const again = await take("scan-chunks");
  expect(again).toEqual(lost);
  for (const chunk of again) await check(chunk, invocation);
  expect(await scanned(scanId)).toMatchObject({ status: "completed", newBreachesFound: 3 });
});

test("a chunk of several blocks that is never reached is failed, and only in its ranges nothing was checked", async () => {
  const ofRanges = [5, 603, 1_093];
  const others = [300, 900, 1_000];
  const before = await lastScans([...ofRanges, ...others]);
  for (const index of ofRanges) breached[index] = ["Gamma"];
  const { scanId } = await planned();
  await end(org, scanId, { reason: "the scan was interrupted", logger });
  expect(await scanned(scanId)).toMatchObject({
    status: "completed",
    totalEmails: addressCount,
    scannedEmails: addressCount - ofRanges.length,
    newBreachesFound: 0,
    errorMessage: expect.stringContaining(`${ofRanges.length} of ${addressCount} monitored emails`),
  });
  const after = await lastScans([...ofRanges, ...others]);
  expect(after.slice(0, ofRanges.length)).toEqual(before.slice(0, ofRanges.length));
  for (const [index, at] of after.slice(ofRanges.length).entries()) {
    expect(String(at) > String(before[ofRanges.length + index])).toBe(true);
  }

  const next = await planned();
  for (const chunk of next.chunks) await check(chunk, invocation);
  expect(await scanned(next.scanId)).toMatchObject({
    status: "completed",
    newBreachesFound: ofRanges.length,
  });
  const [latest, ...rest] = await lastScans([...ofRanges, ...others]);
  expect(new Set(rest)).toEqual(new Set([latest]));
});

test("the longest name of a chunk says its ranges and is a placeholder that DynamoDB takes; one range more is refused", () => {
  const range = { fromId: Number.MAX_SAFE_INTEGER - 1, toId: Number.MAX_SAFE_INTEGER };
  const nameOf = (count: number) =>
    chunkName(Array.from({ length: count }, () => rangeName(range.fromId, range.toId)));
  const using = (name: string) => conditionFields(condition(`attribute_exists(#remaining.#1.#${name})`));
  const name = nameOf(maximumRanges);
  expect(rangesOfChunk(name)).toEqual(Array.from({ length: maximumRanges }, () => range));
  expect(using(name).ExpressionAttributeNames).toHaveProperty(`#${name}`, name);
  expect(() => using(nameOf(maximumRanges + 1))).toThrow("longer than 255 bytes");
});
