import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Context, SQSEvent } from "aws-lambda";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type Sqs, startSqs } from "../../local/sqs/sqs.ts";
import { consumeWithConcurrentPolling } from "../../shared/aws/queue/concurrent-polling.ts";
import * as queue from "../../shared/aws/queue/queue.ts";
import { openWorkerTemplate } from "../local/template.ts";

/** A queue whose worker runs in one invocation at a time. */
const assembly = openWorkerTemplate({
  queue: { VisibilityTimeout: 4 },
  mapping: { ScalingConfig: { MaximumConcurrency: 1 } },
});

const messageTimeoutSeconds = 10;
let remainingSeconds: number;
let invocations: number;
let running = 0;
/** The ids of the deliveries that were worked on, in order. */
let seen: number[];
/** Deliveries whose work waits until a test ends it; the work of others ends at once. */
const waiting = new Map<number, PromiseWithResolvers<void>>();
const end = (id: number): void => waiting.get(id)?.resolve();

const handler = consumeWithConcurrentPolling(
  "deliveries",
  { messageTimeoutSeconds },
  {
    read: async (messages) => messages.map(({ deliveryId }) => deliveryId),
    handle: async ({ deliveryId }, read) => {
      expect(read).toBe(deliveryId);
      seen.push(deliveryId);
      await waiting.get(deliveryId)?.promise;
    },
  },
);

const invoke = async (_: string, event: unknown) => {
  invocations++;
  running++;
  const context = { getRemainingTimeInMillis: () => remainingSeconds * 1000 } as Context;
  return { payload: await handler(event as SQSEvent, context).finally(() => running--) };
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
    DELIVERIES_QUEUE_URL: url,
    SOURCE_QUEUE_URL: url,
    POWERTOOLS_LOG_LEVEL: "SILENT",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterAll(async () => {
  await sqs.close();
  vi.unstubAllEnvs();
});

const begin = (waits: number[], remaining: number): void => {
  waiting.clear();
  for (const id of waits) waiting.set(id, Promise.withResolvers());
  remainingSeconds = remaining;
  invocations = 0;
  seen = [];
};
afterEach(async () => {
  for (const { resolve } of waiting.values()) resolve();
  await untilEmpty();
  await until(() => running === 0);
});

const send = (deliveryId: number) =>
  queue.send("deliveries", { organizationId: 1, deliveryId, channelId: 1, attempt: 1 });

const until = (isSo: () => boolean) => vi.waitUntil(isSo, { timeout: 10_000, interval: 20 });

/** Waits until every message is deleted. */
const untilEmpty = () =>
  vi.waitUntil(
    async () => {
      const names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"] as const;
      const { Attributes } = await new SQSClient().send(
        new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...names] }),
      );
      return names.every((name) => Attributes?.[name] === "0");
    },
    { timeout: 10_000, interval: 100 },
  );

test("a waiting invocation works on later messages and deletes them", async () => {
  begin([1, 2], 60);
  await send(1);
  await until(() => seen.length === 1);
  for (const id of [2, 3, 4, 5, 6, 7, 8]) await send(id);
  await until(() => seen.length === 8);
  expect(invocations).toBe(1);
  end(1);
  end(2);
  await untilEmpty();
  expect([...seen].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test("a polled message that fails is delivered again and does not fail the invocation", async () => {
  begin([1, 2], 60);
  await send(1);
  await until(() => seen.length === 1);
  await send(2);
  await until(() => seen.length === 2);
  waiting.get(2)?.reject(new Error("the first time"));
  waiting.delete(2);
  end(1);
  await until(() => seen.filter((id) => id === 2).length === 2);
  expect(seen).toEqual([1, 2, 2]);
});

test("no message is received that the function's timeout might interrupt", async () => {
  begin([1], messageTimeoutSeconds);
  await send(1);
  await until(() => seen.length === 1);
  await send(2);
  // Longer than an invocation waits before it polls.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(seen).toEqual([1]);
  end(1);
  await until(() => seen.length === 2);
  expect(invocations).toBe(2);
});
