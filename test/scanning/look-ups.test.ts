import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterEach, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import type { Message } from "../../shared/contract/messages.ts";
import * as removals from "../../shared/findings/email-removal.ts";
import * as findings from "../../shared/findings/finding.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import * as limiter from "../../shared/monitoring/hibp/limiter.ts";
import { chunksLeft } from "../../shared/scanning/email-chunks.ts";
import { lookUp } from "../../shared/scanning/look-up.ts";
import {
  createOrganization,
  endEarly,
  invocation,
  onTableRequest,
  readScan,
  runLookUps,
  startAndPlan,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

const workers = useWorkers();
afterEach(async () => {
  workers.upstream.requests.length = 0;
  await table.remove(keys.limiter());
  await table.remove(keys.subscription());
});

/** Plans a scan of a domain that is not covered and takes the message to look up its addresses. */
const planned = async (addressCount: number) => {
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

/** How many messages of look-ups have a delay. */
const delayedMessages = async (): Promise<string | undefined> => {
  const { Attributes } = await new SQSClient().send(
    new GetQueueAttributesCommand({
      QueueUrl: process.env.SCAN_LOOKUPS_QUEUE_URL,
      AttributeNames: ["ApproximateNumberOfMessagesDelayed"],
    }),
  );
  return Attributes?.ApproximateNumberOfMessagesDelayed;
};

test("progress is visible every 25 addresses", async () => {
  const { org, scanId, message } = await planned(60);
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
  const { org, scanId, message } = await planned(12);
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
  expect(await delayedMessages()).toBe(String(counts.length - 1));
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
  const { org, message } = await planned(4);
  await limiter.pause(3_600);
  const reading = onTableRequest(emails.key(org, 1).pk.replace(/\d+$/, ""), "before", async () => {});
  await lookUp(message, invocation(300));
  expect(reading.happened).toBe(false);
  expect(await takeMessages("scan-lookups")).toEqual([]);
  expect(await delayedMessages()).not.toBe("0");
});

test("a scan that ends while it waits for the rate names the rate", async () => {
  const { org, scanId } = await planned(3);
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
