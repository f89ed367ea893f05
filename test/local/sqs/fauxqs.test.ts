/**
 * Tests what local/sqs/fauxqs.ts relies on inside of fauxqs, so that a new version that differs is noticed.
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Fauxqs, openFauxqs, type Queue } from "../../../local/sqs/fauxqs.ts";

const url = "http://127.0.0.1/000000000000/Work";
const arnOf = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;

let fauxqs: Fauxqs;
let queue: Queue;
let enqueued: Queue[];

beforeEach(() => {
  enqueued = [];
  fauxqs = openFauxqs((which) => enqueued.push(which));
  fauxqs.createQueue("Dead", "http://127.0.0.1/000000000000/Dead", arnOf("Dead"), {});
  queue = fauxqs.createQueue("Work", url, arnOf("Work"), {
    VisibilityTimeout: "30",
    DelaySeconds: "5",
    RedrivePolicy: JSON.stringify({ deadLetterTargetArn: arnOf("Dead"), maxReceiveCount: 1 }),
  });
});

afterEach(async () => {
  await fauxqs.app.close();
});

/** A request of SQS's JSON protocol, through the server. */
const request = async (action: string, body: object): Promise<Record<string, unknown>> => {
  const reply = await fauxqs.app.inject({
    method: "POST",
    url: "/",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${action}` },
    payload: { QueueUrl: url, ...body },
  });
  expect(reply.statusCode).toBe(200);
  return reply.body === "" ? {} : reply.json();
};

const send = (MessageBody: string, more: object = {}) =>
  request("SendMessage", { MessageBody, DelaySeconds: 0, ...more });

test("the server works on the queues that were made here", async () => {
  expect(queue).toMatchObject({ name: "Work", arn: arnOf("Work") });
  expect([fauxqs.queueByArn(arnOf("Work")), fauxqs.queueByUrl(url)]).toEqual([queue, queue]);
  await send("a");
  expect(enqueued).toEqual([queue]);
  expect(queue.available()).toBe(1);
  const { Messages } = await request("ReceiveMessage", {});
  expect(Messages).toMatchObject([{ Body: "a" }]);
  expect(queue.available()).toBe(0);
});

test("a group that is kept with a sent entry arrives with its message", async () => {
  fauxqs.app.addHook("preHandler", async ({ body }) => fauxqs.keepGroup(body as object));
  await send("with", { MessageGroupId: "group" });
  await send("without");
  expect(queue.take(10)).toMatchObject([
    { body: "with", group: "group", receiveCount: 1 },
    { body: "without", group: undefined },
  ]);
});

test("the server receives in fair order too", async () => {
  fauxqs.app.addHook("preHandler", async ({ body }) => fauxqs.keepGroup(body as object));
  for (const MessageGroupId of ["busy", "busy", "calm"]) await send(MessageGroupId, { MessageGroupId });
  expect(queue.take(1)).toMatchObject([{ group: "busy" }]);
  const { Messages } = await request("ReceiveMessage", {});
  expect(Messages).toMatchObject([{ Body: "calm" }]);
});

test("delays and visibility timeouts are known, and pass", async () => {
  expect(queue.nextDueAt()).toBe(Number.POSITIVE_INFINITY);
  vi.useFakeTimers({ toFake: ["Date"] });
  await send("late", { DelaySeconds: 20 });
  expect(queue.available()).toBe(0);
  expect(queue.nextDueAt()).toBe(Date.now() + 20_000);
  vi.setSystemTime(Date.now() + 20_001);
  queue.refresh();
  expect(queue.available()).toBe(1);
  const [message] = queue.take(1);
  expect(queue.nextDueAt()).toBeGreaterThan(Date.now() + 29_000);
  queue.delete(message?.receiptHandle ?? "");
  expect(queue.nextDueAt()).toBe(Number.POSITIVE_INFINITY);
  vi.useRealTimers();
});

test("a message that was received too often moves to the dead-letter queue", async () => {
  await send("a");
  const [message] = queue.take(1);
  await request("ChangeMessageVisibility", { ReceiptHandle: message?.receiptHandle, VisibilityTimeout: 0 });
  queue.refresh();
  expect(queue.take(1)).toEqual([]);
  expect(fauxqs.queueByArn(arnOf("Dead"))?.available()).toBe(1);
});

test("no other source file reaches into fauxqs", () => {
  const project = join(import.meta.dirname, "../../..");
  const sources = globSync("{bin,bench,functions,lib,local,shared}/**/*.{ts,mjs}", { cwd: project });
  const reaching = sources.filter((file) =>
    /"[^"]*fauxqs\/dist/.test(readFileSync(join(project, file), "utf8")),
  );
  expect(reaching).toEqual([join("local", "sqs", "fauxqs.ts")]);
});
