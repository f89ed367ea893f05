/** Messages that Lambda hands over together. */
import { SendMessageBatchCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Context, SQSEvent } from "aws-lambda";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Sqs, startSqs } from "../../local/sqs/sqs.ts";
import { openWorkerTemplate } from "../local/template.ts";

const assembly = openWorkerTemplate({ queue: { VisibilityTimeout: 240 }, mapping: { BatchSize: 10 } });

let sqs: Sqs;
let url: string;
/** The ids of the deliveries of each read, and those that were worked on. */
let reads: number[][];
let handled: number[];
/** Deliveries whose next work fails. */
let failing: Set<number>;
let readFails: boolean;
/** A delivery whose row this release does not read. */
let newer: number | undefined;
let outcomes: ("done" | "failed")[];

const makeHandler = async () => {
  // The module keeps its client, and each test has a server of its own.
  vi.resetModules();
  const { consumeWithConcurrentPolling } = await import("../../shared/aws/queue/concurrent-polling.ts");
  return consumeWithConcurrentPolling(
    "deliveries",
    { messageTimeoutSeconds: 1 },
    {
      read: async (messages) => {
        reads.push(messages.map(({ deliveryId }) => deliveryId));
        if (readFails) {
          readFails = false;
          throw new Error("the table did not answer");
        }
        const { NewerVersion } = await import("../../shared/contract/version.ts");
        if (messages.some(({ deliveryId }) => deliveryId === newer)) throw new NewerVersion("row", 99);
        return messages.map(({ deliveryId }) => `row ${deliveryId}`);
      },
      handle: async ({ deliveryId }, row) => {
        expect(row).toBe(`row ${deliveryId}`);
        handled.push(deliveryId);
        if (failing.delete(deliveryId)) throw new Error("the first time");
      },
    },
  );
};

beforeEach(async () => {
  [reads, handled, failing, readFails, outcomes] = [[], [], new Set(), false, []];
  newer = undefined;
  const handler = await makeHandler();
  const invoke = async (_: string, event: unknown) => {
    const context = { getRemainingTimeInMillis: () => 40_000 } as Context;
    const done = await handler(event as SQSEvent, context).then(
      () => true,
      () => false,
    );
    outcomes.push(done ? "done" : "failed");
    return done ? { payload: null } : { functionError: "Unhandled" as const, payload: {} };
  };
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
afterEach(async () => {
  await sqs.close();
  vi.unstubAllEnvs();
});

const bodyOf = (deliveryId: number): string =>
  JSON.stringify({ organizationId: 1, deliveryId, channelId: 1, attempt: 1 });

const send = (...bodies: string[]) =>
  new SQSClient({ endpoint: sqs.endpoint }).send(
    new SendMessageBatchCommand({
      QueueUrl: url,
      Entries: bodies.map((MessageBody, index) => ({ Id: String(index), MessageBody })),
    }),
  );

const until = (isSo: () => boolean) => vi.waitUntil(isSo, { timeout: 10_000, interval: 20 });

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
  await until(() => outcomes.length === 2);
  expect({ handled, outcomes }).toEqual({ handled: [1, 2, 3, 2], outcomes: ["failed", "done"] });
});

test("a message that does not parse fails alone", async () => {
  await send(bodyOf(1), "{", bodyOf(3));
  await until(() => outcomes.length === 2);
  expect(handled).toEqual([1, 3]);
  expect(outcomes).toEqual(["failed", "failed"]);
  expect(reads[0]).toEqual([1, 3]);
});

test("all messages come again when the read fails", async () => {
  readFails = true;
  await send(bodyOf(1), bodyOf(2));
  await until(() => handled.length === 2);
  expect(handled.toSorted()).toEqual([1, 2]);
  expect(outcomes[0]).toBe("failed");
});

test("a row of a newer version holds up only the message that needs it", async () => {
  newer = 2;
  await send(bodyOf(1), bodyOf(2), bodyOf(3));
  await until(() => outcomes.length === 2);
  expect({ handled, outcomes }).toEqual({ handled: [1, 3], outcomes: ["failed", "failed"] });
  expect(reads[0]).toEqual([1, 2, 3]);
});
