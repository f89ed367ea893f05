/** Chunks of a scan: those whose changes are recorded, and those whose addresses are looked up. */

import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, beforeAll, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import type { Message } from "../../shared/contract/messages.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import * as findings from "../../shared/findings/finding.ts";
import * as limiter from "../../shared/hibp/limiter.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import type { ListedEmail } from "../../shared/monitoring/emails/email-schema.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { check } from "../../shared/scanning/check.ts";
import { chunksLeft } from "../../shared/scanning/email-chunks.ts";
import { end } from "../../shared/scanning/end.ts";
import { lookUp } from "../../shared/scanning/look-up.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { recordCapacity } from "../aws/table/engine.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import {
  changesIn,
  createOrganization,
  domainSearchCount,
  endEarly,
  invocation,
  logger,
  readScan,
  runLookUps,
  startAndPlan,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

const domainName = "sparse.example";
const addressCount = 640;
/** They are in three blocks. */
const perBlock = 300;

const workers = useWorkers({ breached: { [domainName]: {} } });
afterEach(async () => {
  workers.upstream.requests.length = 0;
  await table.remove(keys.limiter());
  await table.remove(keys.subscription());
});
let org: number;
beforeAll(async () => {
  org = await createOrganization({ [domainName]: addressCount }, perBlock);
});

/** `breached`: index of an address → names of the breaches that it is in. */
const setBreached = (breached: Record<number, string[]>): void => {
  workers.breached[domainName] = { ...workers.breached[domainName], ...breached };
};

/** Plans a scan and takes the messages of its chunks. */
const planned = async (): Promise<{ scanId: number; chunks: Message<"scan-checks">[] }> => {
  const scanId = await startAndPlan(org);
  return { scanId, chunks: await takeMessages("scan-checks") };
};

/** How many changes each chunk has, most first. */
const changeCounts = async (chunks: readonly Message<"scan-checks">[]): Promise<number[]> =>
  (await Promise.all(chunks.map(changesIn))).map(({ length }) => length).sort((a, b) => b - a);

/** When the addresses of these indexes were last scanned, as the list of all e-mails says. */
const lastScans = async (indexes: readonly number[]): Promise<(string | null)[]> => {
  const all: ListedEmail[] = [];
  for (let offset = 0; offset < addressCount; offset += 100) {
    all.push(...(await emailList.list(org, { limit: 100, offset })).emails);
  }
  return indexes.map(
    (index) => all.find(({ email }) => email === `user${index}@${domainName}`)?.lastScannedAt ?? null,
  );
};

test("a chunk has changes of several blocks, and at most 500", async () => {
  setBreached({ 3: ["Alpha"], 320: ["Alpha", "Beta"], 610: ["Beta"] });
  const few = await planned();
  expect(await changeCounts(few.chunks)).toEqual([3]);
  // Every message comes twice.
  for (const chunk of [...few.chunks, ...few.chunks]) await check(chunk, invocation());
  expect(await readScan(org, few.scanId)).toMatchObject({
    status: "completed",
    totalEmails: addressCount,
    scannedEmails: addressCount,
    newBreachesFound: 4,
    remaining: {},
  });

  for (let index = 0; index < 510; index++)
    setBreached({ [index]: index === 320 ? ["Alpha", "Beta"] : ["Alpha"] });
  const many = await planned();
  // Two of the 510 addresses were found before.
  expect(await changeCounts(many.chunks)).toEqual([500, 8]);
  for (const chunk of many.chunks) await check(chunk, invocation());
  expect(await readScan(org, many.scanId)).toMatchObject({
    status: "completed",
    scannedEmails: addressCount,
    newBreachesFound: 508,
  });
  expect((await findings.list(org, { limit: 1, offset: 0 })).total).toBe(512);
});

test("a chunk of many e-mails reads several of them, and of its breaches, at once", async () => {
  for (let index = 300; index < 600; index++) setBreached({ [index]: [`Many${index % 60}`, "Gamma"] });
  const { chunks } = await planned();
  expect(await changeCounts(chunks)).toEqual([300]);
  const capacity = recordCapacity();
  await check(chunks[0] as Message<"scan-checks">, invocation());
  // One by one, the e-mails alone would take 300, and the 61 breaches and their dates half as many.
  expect(capacity.take().readUnits).toBeLessThan(200);
});

test("a chunk whose message is lost is sent again, without another question to HIBP", async () => {
  setBreached({ 4: ["Alpha", "Beta"], 322: ["Gamma", "Beta"], 612: ["Beta"] });
  const { scanId, chunks: lost } = await planned();
  expect(lost).toHaveLength(1);
  const searches = domainSearchCount(workers);
  await plan({ organizationId: org, scanId, fencingToken: 1 }, invocation());
  const again = await takeMessages("scan-checks");
  expect(again).toEqual(lost);
  expect(domainSearchCount(workers)).toBe(searches);
  for (const chunk of again) await check(chunk, invocation());
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", newBreachesFound: 3 });
});

test("an unfinished chunk leaves the time of the last check to its whole batch", async () => {
  const changed = [5, 323, 613];
  const others = [200, 590, 630];
  const before = await lastScans([...changed, ...others]);
  for (const index of changed) setBreached({ [index]: ["Delta"] });
  const { scanId } = await planned();
  await end(org, scanId, { reason: "the scan was interrupted", logger });
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: addressCount,
    scannedEmails: addressCount - changed.length,
    newBreachesFound: 0,
    errorMessage: expect.stringContaining(`${changed.length} of ${addressCount} monitored emails`),
  });
  const after = await lastScans([...changed, ...others]);
  expect(after).toEqual(before);

  const next = await planned();
  for (const chunk of next.chunks) await check(chunk, invocation());
  expect(await readScan(org, next.scanId)).toMatchObject({
    status: "completed",
    newBreachesFound: changed.length,
  });
  const [latest, ...rest] = await lastScans([...changed, ...others]);
  expect(new Set(rest)).toEqual(new Set([latest]));
});

/** Plans a scan of a domain that is not covered and takes the message to look up its addresses. */
const plannedLookUps = async (addressCount: number) => {
  const org = await createOrganization({ [`single${addressCount}.example`]: addressCount });
  const scanId = await startAndPlan(org);
  const message = (await takeMessages("scan-lookups")).find(({ organizationId }) => organizationId === org);
  if (message === undefined) throw new Error("The plan sent no message for this organization");
  return { org, scanId, message };
};

/** Makes all look-ups of a chunk, with `before` before each worker; the scan's count after each worker. */
const countsAfterEachWorker = async (
  org: number,
  scanId: number,
  message: Message<"scan-lookups">,
  { seconds, before = async () => {} }: { seconds: number; before?: () => Promise<unknown> },
) => {
  const counts: (number | undefined)[] = [];
  for (;;) {
    const [left] = chunksLeft({ remaining: {}, ...(await readScan(org, scanId)) });
    if (left === undefined) return counts;
    await before();
    await lookUp({ ...message, chunk: left.chunk }, invocation(seconds));
    counts.push((await readScan(org, scanId)).scannedEmails);
  }
};

/**
 * How many messages of look-ups are in the queue, delayed or not: on a slow machine their delay passes within a test.
 */
const queuedMessages = async (): Promise<number> => {
  const { Attributes = {} } = await new SQSClient().send(
    new GetQueueAttributesCommand({
      QueueUrl: process.env.SCAN_LOOKUPS_QUEUE_URL,
      AttributeNames: ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesDelayed"],
    }),
  );
  return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
};

test("progress is visible every 25 addresses", async () => {
  const { org, scanId, message } = await plannedLookUps(60);
  // Each worker has time for one step.
  expect(await countsAfterEachWorker(org, scanId, message, { seconds: 20 })).toEqual([25, 50, 60]);
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", totalEmails: 60 });
});

test("addresses beyond the rate limit are looked up in later minutes", async () => {
  workers.plan = { Rpm: 10 };
  const { answer } = workers.upstream;
  workers.upstream.answer = (path, request, response) => {
    // HIBP never answers for one address. The scan misses this address and no other.
    if (path.includes("user0%40")) return void request.socket.destroy();
    answer(path, request, response);
  };
  for (let index = 0; index < 12; index++) {
    workers.accounts[`user${index}@single12.example`] = ["Alpha"];
  }
  const { org, scanId, message } = await plannedLookUps(12);
  const queuedBefore = await queuedMessages();
  // Removing the limiter's row begins a new minute.
  const requestsPerMinute: number[] = [];
  const nextMinute = async () => {
    requestsPerMinute.push(workers.upstream.requests.length);
    workers.upstream.requests.length = 0;
    await table.remove(keys.limiter());
  };
  const counts = await countsAfterEachWorker(org, scanId, message, { seconds: 300, before: nextMinute });
  await nextMinute();
  expect(counts[0]).toBeGreaterThan(0);
  expect(counts[0]).toBeLessThan(11);
  expect(counts.at(-1)).toBe(11);
  // Each worker except the last one sent a message to continue.
  expect((await queuedMessages()) - queuedBefore).toBe(counts.length - 1);
  expect(Math.max(...requestsPerMinute)).toBeLessThanOrEqual(10);
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: 12,
    scannedEmails: 11,
    newBreachesFound: 11,
    errorMessage: expect.stringContaining("1 of 12 monitored emails could not be scanned"),
  });
});

test("a chunk that waits for the rate reads no e-mails", async () => {
  const { org, message } = await plannedLookUps(4);
  const queuedBefore = await queuedMessages();
  await limiter.pause(3_600);
  const reading = onTableRequest(
    { text: emails.key(org, 1).pk.replace(/\d+$/, "") },
    "before",
    async () => {},
  );
  await lookUp(message, invocation(300));
  expect(reading.happened).toBe(false);
  expect((await queuedMessages()) - queuedBefore).toBe(1);
  const visible = await takeMessages("scan-lookups");
  expect(visible.filter(({ organizationId }) => organizationId === org)).toEqual([]);
});

test("a scan that ends while it waits for the rate names the rate", async () => {
  const { org, scanId } = await plannedLookUps(3);
  await limiter.pause(3_600);
  await endEarly(org, scanId);
  expect(await readScan(org, scanId)).toMatchObject({
    status: "failed",
    errorMessage:
      "None of 3 monitored emails could be scanned: for a test; the rate limit of Have I Been Pwned is used up",
  });
});

test("look-ups end within their function's time when HIBP answers nothing else", async () => {
  const org = await createOrganization({ "single.example": 2 });
  workers.accounts["user0@single.example"] = ["Newest"];
  const scanId = await startAndPlan(org);
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000).toISOString();
  await table.update(keys.subscription(), { set: { at: hoursAgo } });
  const { answer } = workers.upstream;
  workers.upstream.answer = (path, request, response) => {
    if (path.startsWith("breachedaccount/")) answer(path, request, response);
  };
  const { remainingSeconds, ...rest } = invocation(14);
  for (const message of await takeMessages("scan-lookups"))
    await lookUp(message, { ...rest, remainingSeconds });
  expect(remainingSeconds()).toBeGreaterThan(0);
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    scannedEmails: 2,
    newBreachesFound: 1,
  });
  const { breaches } = await findings.list(org, { limit: 1, offset: 0, scanId });
  expect(breaches).toMatchObject([{ breach: { title: "Newest" } }]);
});

test("answers after the scan's end check no address", async () => {
  const org = await createOrganization({ "late.example": 2 });
  const scanId = await startAndPlan(org);
  const { answer } = workers.upstream;
  workers.upstream.answer = (path, request, response) => {
    if (!path.startsWith("breachedaccount/")) return answer(path, request, response);
    endEarly(org, scanId).finally(() => answer(path, request, response));
  };
  await runLookUps();
  expect(await readScan(org, scanId)).toMatchObject({ status: "failed", scannedEmails: 0, totalEmails: 2 });
  const { emails: listed } = await emailList.list(org, { limit: 2, offset: 0 });
  expect(listed.map(({ lastScannedAt }) => lastScannedAt)).toEqual([null, null]);
});

test("an address that is removed while it is looked up does not hinder the others", async () => {
  const org = await createOrganization({ "single.example": 3 });
  const scanId = await startAndPlan(org);
  const { emails: before } = await emailList.list(org, { limit: 3, offset: 0 });
  const [removed, ...kept] = before;
  let removing: Promise<void> | undefined;
  const { answer } = workers.upstream;
  workers.upstream.answer = (path, request, response) => {
    removing ??= removals.remove(org, removed?.id ?? 0, administrator);
    removing.finally(() => answer(path, request, response));
  };
  await runLookUps();
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed" });
  const { emails: after } = await emailList.list(org, { limit: 3, offset: 0 });
  expect(after.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
  for (const { lastScannedAt } of after) expect(lastScannedAt).not.toBeNull();
});
