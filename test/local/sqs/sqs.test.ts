import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { SQSEvent } from "aws-lambda";
import { afterAll, describe, expect, test } from "vitest";
import { startSqs } from "../../../local/sqs/sqs.ts";
import { clientOf, openWorkerTemplate } from "../template.ts";

const closing: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

type Options = {
  mapping?: Record<string, unknown>;
  queue?: Record<string, unknown>;
  timeoutSeconds?: number;
  speed?: number;
};

/** Starts a queue with a dead-letter queue, and a function behind it whose code is `handle`. */
const start = async (handle: (event: SQSEvent) => Promise<void>, options: Options = {}) => {
  const assembly = openWorkerTemplate({
    worker: { Timeout: options.timeoutSeconds ?? 1 },
    queue: { VisibilityTimeout: 1, ...options.queue },
    mapping: { BatchSize: 10, ...options.mapping },
  });
  const lambda = {
    invoke: async (functionArn: string, event: unknown) => {
      expect(functionArn).toBe("arn:aws:lambda:us-east-1:000000000000:function:test-Worker");
      try {
        await handle(event as SQSEvent);
        return { payload: null };
      } catch (error) {
        return {
          functionError: "Unhandled" as const,
          payload: { errorType: "Error", errorMessage: String(error) },
        };
      }
    },
  };
  const sqs = await startSqs({ assembly, lambda, speed: options.speed ?? 1 });
  closing.push(sqs.close);
  const client = new SQSClient(clientOf(sqs.endpoint));
  closing.push(async () => client.destroy());
  const urlOf = (name: string) => `${sqs.endpoint}/000000000000/test-${name}`;
  return {
    send: (body: string, more: { DelaySeconds?: number; MessageGroupId?: string } = {}) =>
      client.send(new SendMessageCommand({ QueueUrl: urlOf("Work"), MessageBody: body, ...more })),
    sendBatch: (bodies: string[]) =>
      client.send(
        new SendMessageBatchCommand({
          QueueUrl: urlOf("Work"),
          Entries: bodies.map((MessageBody, index) => ({ Id: `e${index}`, MessageBody })),
        }),
      ),
  };
};

describe.concurrent("an event source", () => {
  test("hands over batches in Lambda's event form and deletes them", async ({ expect }) => {
    const events: SQSEvent[] = [];
    const { send, sendBatch } = await start(async (event) => {
      events.push(event);
    });
    await send("alone", { MessageGroupId: "group" });
    await expect.poll(() => events.length).toBe(1);
    expect(events[0]?.Records[0]).toMatchObject({
      body: "alone",
      attributes: {
        ApproximateReceiveCount: "1",
        MessageGroupId: "group",
        SentTimestamp: expect.any(String),
      },
      eventSource: "aws:sqs",
      eventSourceARN: "arn:aws:sqs:us-east-1:000000000000:test-Work",
      awsRegion: "us-east-1",
    });
    await sendBatch(["a", "b", "c"]);
    await expect.poll(() => events.length).toBe(2);
    expect(events[1]?.Records.map(({ body }) => body)).toEqual(["a", "b", "c"]);
    // Longer than the visibility timeout.
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(events).toHaveLength(2);
  });

  test("keeps to its MaximumConcurrency and serves all groups in turn", async ({ expect }) => {
    let running = 0;
    let most = 0;
    const order: string[] = [];
    const allSent = Promise.withResolvers<void>();
    const { send } = await start(
      async ({ Records }) => {
        running += 1;
        most = Math.max(most, running);
        await allSent.promise;
        await new Promise((resolve) => setTimeout(resolve, 20));
        order.push(...Records.map(({ attributes }) => attributes.MessageGroupId ?? ""));
        running -= 1;
      },
      {
        mapping: { BatchSize: 1, ScalingConfig: { MaximumConcurrency: 1 } },
        queue: { VisibilityTimeout: 60 },
      },
    );
    await Promise.all(Array.from({ length: 12 }, () => send("x", { MessageGroupId: "busy" })));
    await send("x", { MessageGroupId: "calm" });
    allSent.resolve();
    await expect.poll(() => order.length).toBe(13);
    expect(most).toBe(1);
    expect(order.indexOf("calm")).toBeLessThan(5);
  });
});

describe.concurrent("DelaySeconds", () => {
  test("passes speed times faster", async ({ expect }) => {
    const sentAt = Date.now();
    let tookMilliseconds = 0;
    const { send } = await start(
      async () => {
        tookMilliseconds = Date.now() - sentAt;
      },
      { speed: 1800 },
    );
    await send("later", { DelaySeconds: 900 });
    await expect.poll(() => tookMilliseconds).toBeGreaterThan(490);
  });

  test("over 900 is refused", async ({ expect }) => {
    const { send } = await start(async () => {});
    await expect(send("x", { DelaySeconds: 901 })).rejects.toThrow("must be >= 0 and <= 900");
  });
});
