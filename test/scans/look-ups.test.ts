import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import * as emails from "../../shared/emails/email.ts";
import * as findings from "../../shared/findings/finding.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import type { Message } from "../../shared/queue/messages.ts";
import { end } from "../../shared/scans/end.ts";
import { lookUp } from "../../shared/scans/look-up.ts";
import { keys, timeToLive } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import { reply } from "../catalog/upstream-server.ts";
import {
  createScanned,
  invocation,
  logger,
  scanned,
  startPlanned,
  startWorkers,
  take,
  type Workers,
} from "./workers.ts";

let workers: Workers;
let answer: Workers["upstream"]["answer"];
beforeAll(async () => {
  workers = await startWorkers();
  ({ answer } = workers.upstream);
}, 60_000);
afterAll(() => workers?.stop());
afterEach(async () => {
  workers.upstream.answer = answer;
  workers.upstream.requests.length = 0;
  await table.remove(keys.limiter());
  await table.remove(keys.subscription());
});

/** Starts a scan of so many addresses of a domain that is not covered; its id and the message to look them up. */
const planned = async (count: number) => {
  const org = await createScanned({ [`single${count}.example`]: count });
  const scanId = await startPlanned(org);
  const message = (await take("scan-lookups")).find(({ organizationId }) => organizationId === org);
  if (message === undefined) throw new Error("there is no message");
  return { org, scanId, message };
};

/** Looks up as far as each message goes, `before` each; how many addresses were checked after each. */
const progress = async (
  org: number,
  scanId: number,
  message: Message<"scan-lookups">,
  { seconds, before = async () => {} }: { seconds: number; before?: () => Promise<unknown> },
) => {
  const seen: (number | undefined)[] = [];
  for (;;) {
    const row = await table.get<{ cursor: number }>(keys.lookup(org, scanId, message.batch, message.chunk));
    if (row === undefined) return seen;
    await before();
    await lookUp({ ...message, cursor: row.cursor }, invocation(seconds));
    seen.push((await scanned(org, scanId)).scannedEmails);
  }
};

/** Messages that come later. */
const delayed = async (): Promise<string | undefined> => {
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
  // Time for one step.
  expect(await progress(org, scanId, message, { seconds: 20 })).toEqual([25, 50, 60]);
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed", totalEmails: 60 });
});

test("ten requests a minute: a scan of more addresses waits for its turns, shows how far it is, and misses only the one that is not answered", async () => {
  workers.upstream.answer = (path, request, response) => {
    if (path === "subscription/status") return reply(response, 200, { Rpm: 10 });
    if (path.includes("user0%40")) return void request.socket.destroy();
    answer(path, request, response);
  };
  for (let index = 0; index < 12; index++) {
    workers.accounts[`user${index}@single12.example`] = ["Alpha"];
  }
  const { org, scanId, message } = await planned(12);
  // In each minute, as long as it takes in this one.
  const inMinute: number[] = [];
  const nextMinute = async () => {
    inMinute.push(workers.upstream.requests.length);
    workers.upstream.requests.length = 0;
    await table.remove(keys.limiter());
  };
  const seen = await progress(org, scanId, message, { seconds: 300, before: nextMinute });
  await nextMinute();
  expect(seen[0]).toBeGreaterThan(0);
  expect(seen[0]).toBeLessThan(11);
  expect(seen.at(-1)).toBe(11);
  // One to go on with after each but the last.
  expect(await delayed()).toBe(String(seen.length - 1));
  expect(Math.max(...inMinute)).toBeLessThanOrEqual(10);
  expect(await scanned(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: 12,
    scannedEmails: 11,
    newBreachesFound: 11,
    errorMessage: expect.stringContaining("1 of 12 monitored emails could not be scanned"),
  });
});

test("look-ups do not wait longer than their function runs, when HIBP answers them and nothing else", async () => {
  const org = await createScanned({ "single.example": 2 });
  workers.accounts["user0@single.example"] = ["Newest"];
  const scanId = await startPlanned(org);
  const hoursAgo = new Date(Date.now() - 2 * 3_600_000).toISOString();
  await table.update(keys.subscription(), { set: { at: hoursAgo } });
  workers.upstream.answer = (path, request, response) => {
    if (path.startsWith("breachedaccount/")) answer(path, request, response);
  };
  const { remainingSeconds, ...rest } = invocation(14);
  for (const message of await take("scan-lookups")) await lookUp(message, { ...rest, remainingSeconds });
  expect(remainingSeconds()).toBeGreaterThan(5);
  expect(await scanned(org, scanId)).toMatchObject({
    status: "completed",
    scannedEmails: 2,
    newBreachesFound: 1,
  });
  const { breaches } = await findings.list(org, { limit: 1, offset: 0, scanId });
  expect(breaches).toMatchObject([{ breach: { title: "Newest" } }]);
}, 20_000);

test("addresses whose answers come after the scan's end do not read as checked, and nothing of it is kept for ever", async () => {
  const org = await createScanned({ "late.example": 2 });
  const scanId = await startPlanned(org);
  const ending = { reason: "for a test", logger };
  workers.upstream.answer = (path, request, response) => {
    if (!path.startsWith("breachedaccount/")) return answer(path, request, response);
    end(org, scanId, ending).finally(() => answer(path, request, response));
  };
  const rows = () => table.query<Record<string, number>>({ pk: keys.lookup(org, scanId, 0, "").pk });
  expect(await rows()).toHaveLength(1);
  for (const message of await take("scan-lookups")) await lookUp(message, invocation());
  expect(await scanned(org, scanId)).toMatchObject({ status: "failed", scannedEmails: 0, totalEmails: 2 });
  const { emails: listed } = await emails.list(org, { limit: 2, offset: 0 });
  expect(listed.map(({ lastScannedAt }) => lastScannedAt)).toEqual([null, null]);
  for (const row of await rows()) {
    expect((row[timeToLive] ?? 0) - Date.now() / 1000).toBeGreaterThan(86_400);
  }
});

test("an address that is removed while it is looked up does not keep the others from being checked", async () => {
  const org = await createScanned({ "single.example": 3 });
  const scanId = await startPlanned(org);
  const { emails: before } = await emails.list(org, { limit: 3, offset: 0 });
  const [removed, ...kept] = before;
  let removing: Promise<void> | undefined;
  workers.upstream.answer = (path, request, response) => {
    removing ??= emails.remove(org, removed?.id ?? 0, administrator);
    removing.finally(() => answer(path, request, response));
  };
  for (const message of await take("scan-lookups")) await lookUp(message, invocation());
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed" });
  const { emails: after } = await emails.list(org, { limit: 3, offset: 0 });
  expect(after.map(({ id }) => id)).toEqual(kept.map(({ id }) => id));
  for (const { lastScannedAt } of after) expect(lastScannedAt).not.toBeNull();
});
