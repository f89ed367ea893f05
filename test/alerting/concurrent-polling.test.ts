/** A worker that takes several messages at once, and further ones while it waits for receivers. */
import { PurgeQueueCommand, SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Context, SQSEvent } from "aws-lambda";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type Sqs, startSqs } from "../../local/sqs/sqs.ts";
import { consumeWithConcurrentPolling } from "../../shared/aws/queue/concurrent-polling.ts";
import { NewerVersion } from "../../shared/contract/version.ts";
import { openWorkerTemplate } from "../local/template.ts";

/** A queue whose worker runs in one invocation at a time. */
const assembly = openWorkerTemplate({
  queue: { VisibilityTimeout: 2_400 },
  mapping: { BatchSize: 10, ScalingConfig: { MaximumConcurrency: 1 } },
});

const messageTimeoutSeconds = 10;
let remainingSeconds: number;
/** The ids of the deliveries of each read, and those that were worked on, in order. */
let reads: number[][];
let handled: number[];
/** Deliveries whose next work fails, and those whose work waits until a test ends it. */
let failing: Set<number>;
let waiting: Map<number, PromiseWithResolvers<void>>;
let readFails: boolean;
/** A delivery whose row this release does not read. */
let newer: number | undefined;
let invocations: number;
let outcomes: ("done" | "failed")[];

const handler = consumeWithConcurrentPolling(
  "deliveries",
  { messageTimeoutSeconds },
  {
    read: async (messages) => {
      reads.push(messages.map(({ deliveryId }) => deliveryId));
      if (readFails) {
        readFails = false;
        throw new Error("the table did not answer");
      }
      if (messages.some(({ deliveryId }) => deliveryId === newer)) throw new NewerVersion("row", 99);
      return messages.map(({ deliveryId }) => `row ${deliveryId}`);
    },
    handle: async ({ deliveryId }, row) => {
      expect(row).toBe(`row ${deliveryId}`);
      handled.push(deliveryId);
      await waiting.get(deliveryId)?.promise;
      if (failing.delete(deliveryId)) throw new Error("the first time");
    },
  },
);

const invoke = async (_: string, event: unknown) => {
  invocations++;
  const context = { getRemainingTimeInMillis: () => remainingSeconds * 1000 } as Context;
  const outcome = await handler(event as SQSEvent, context).then(
    () => "done" as const,
    () => "failed" as const,
  );
  outcomes.push(outcome);
  return outcome === "done" ? { payload: null } : { functionError: "Unhandled" as const, payload: {} };
};

let sqs: Sqs;
let url: string;
beforeAll(async () => {
  // A message that failed comes again within a second.
  sqs = await startSqs({ assembly, lambda: { invoke }, speed: 60 });
  url = `${sqs.endpoint}/000000000000/${assembly.physicalId("Work")}`;
  const environment = {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_SQS: sqs.endpoint,
    SOURCE_QUEUE_URL: url,
    POWERTOOLS_LOG_LEVEL: "SILENT",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterAll(async () => {
  await sqs.close();
  vi.unstubAllEnvs();
});
beforeEach(() => {
  remainingSeconds = 60;
  [reads, handled, failing, waiting, outcomes] = [[], [], new Set(), new Map(), []];
  [readFails, newer, invocations] = [false, undefined, 0];
});
afterEach(async () => {
  for (const { resolve } of waiting.values()) resolve();
  await new SQSClient().send(new PurgeQueueCommand({ QueueUrl: url }));
  await until(() => outcomes.length === invocations);
});

const bodyOf = (deliveryId: number): string =>
  JSON.stringify({ organizationId: 1, deliveryId, channelId: 1, attempt: 1 });

const send = (...bodies: string[]) =>
  new SQSClient().send(
    new SendMessageBatchCommand({
      QueueUrl: url,
      Entries: bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody })),
    }),
  );

const until = (isSo: () => boolean) => vi.waitUntil(isSo, { timeout: 60_000, interval: 20 });

/** Begins an invocation that waits for the delivery 1. */
const beginWaiting = async (): Promise<void> => {
  waiting.set(1, Promise.withResolvers());
  await send(bodyOf(1));
  await until(() => handled.length === 1);
};

test("what messages need that come together is read once", async () => {
  await send(bodyOf(1), bodyOf(2), bodyOf(3));
  await until(() => outcomes.length === 1);
  expect({ reads, handled, outcomes }).toEqual({
    reads: [[1, 2, 3]],
    handled: [1, 2, 3],
    outcomes: ["done"],
  });
});

test("of a batch only the message that failed comes again", async () => {
  failing.add(2);
  await send(bodyOf(1), bodyOf(2), bodyOf(3));
  // On a busy machine the invocation still polls, and gets it itself.
  await until(() => handled.length >= 4 && outcomes.length === invocations);
  expect(handled).toEqual([1, 2, 3, 2]);
  expect(outcomes[0]).toBe("failed");
});

test.each([
  ["that does not parse", "{", [1, 3]],
  ["whose row is of a newer version", bodyOf(2), [1, 2, 3]],
])("a message %s fails alone", async (_, body, read) => {
  newer = 2;
  await send(bodyOf(1), body, bodyOf(3));
  await until(() => outcomes.length >= 2);
  expect(handled).toEqual([1, 3]);
  expect(outcomes.slice(0, 2)).toEqual(["failed", "failed"]);
  expect(reads[0]).toEqual(read);
});

test("all messages come again when the read fails", async () => {
  readFails = true;
  await send(bodyOf(1), bodyOf(2));
  await until(() => handled.length === 2 && outcomes.length === invocations);
  expect(handled.toSorted()).toEqual([1, 2]);
  expect(outcomes[0]).toBe("failed");
});

test("a waiting invocation works on later messages and deletes them", async () => {
  await beginWaiting();
  for (const id of [2, 3, 4, 5, 6, 7, 8]) await send(bodyOf(id));
  await until(() => handled.length === 8);
  expect(invocations).toBe(1);
  waiting.get(1)?.resolve();
  await until(() => outcomes.length === 1);
  expect(outcomes).toEqual(["done"]);
  // A message that had not been deleted would come again before this one, or with it.
  await send(bodyOf(9));
  await until(() => handled.includes(9));
  expect(handled.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
});

test("a polled message that fails is delivered again and does not fail the invocation", async () => {
  await beginWaiting();
  failing.add(2);
  await send(bodyOf(2));
  await until(() => handled.length === 3);
  expect({ handled, invocations }).toEqual({ handled: [1, 2, 2], invocations: 1 });
});

test("no message is received that the function's timeout might interrupt", async () => {
  remainingSeconds = messageTimeoutSeconds;
  await beginWaiting();
  await send(bodyOf(2));
  // Longer than an invocation waits before it polls.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(handled).toEqual([1]);
  waiting.get(1)?.resolve();
  await until(() => handled.length === 2);
  expect(invocations).toBe(2);
});
