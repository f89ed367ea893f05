/** What becomes of messages at which workers fail, which Lambda throttles, or whose worker is killed. */
import { GetQueueAttributesCommand, SQSClient } from "@aws-sdk/client-sqs";
import type { Context, SQSEvent } from "aws-lambda";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type Sqs, startSqs } from "../../../local/sqs/sqs.ts";
import { consume, retryDelaySeconds } from "../../../shared/aws/queue/consume.ts";
import * as queue from "../../../shared/aws/queue/queue.ts";
import { openWorkerTemplate } from "../../local/template.ts";

/** Delays pass so many times faster; visibility timeouts do not. */
const speed = 300;

const failed = {
  functionError: "Unhandled" as const,
  payload: { errorType: "Error", errorMessage: "failed" },
};

/** What the nth invocation does: works, fails in the worker, is killed, or is not begun by Lambda. */
type Course = "works" | "fails" | "is killed" | "is throttled";

let sqs: Sqs | undefined;
afterEach(async () => {
  await sqs?.close();
  vi.unstubAllEnvs();
});

const start = async (courses: (index: number) => Course, queueProperties: Record<string, unknown>) => {
  const invokedAt: number[] = [];
  const receives: number[] = [];
  const assembly = openWorkerTemplate({ worker: { Timeout: 1 }, queue: queueProperties });
  const invoke = async (_: string, event: unknown) => {
    const course = courses(invokedAt.length);
    invokedAt.push(Date.now());
    receives.push(Number((event as SQSEvent).Records[0]?.attributes.ApproximateReceiveCount));
    if (course === "is throttled") throw new Error("TooManyRequestsException");
    if (course === "is killed") return failed;
    const handler = consume("deliveries", async () => {
      if (course === "fails") throw new Error("failed");
    });
    const context = { getRemainingTimeInMillis: () => 30_000 } as Context;
    return handler(event as SQSEvent, context).then(
      () => ({ payload: null }),
      () => failed,
    );
  };
  sqs = await startSqs({ assembly, lambda: { invoke }, speed });
  const urlOf = (name: string) => `${sqs?.endpoint}/000000000000/${assembly.physicalId(name)}`;
  const environment = {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_SQS: sqs.endpoint,
    DELIVERIES_QUEUE_URL: urlOf("Work"),
    SOURCE_QUEUE_URL: urlOf("Work"),
    POWERTOOLS_LOG_LEVEL: "SILENT",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  await queue.send("deliveries", { organizationId: 1, deliveryId: 1, channelId: 1, attempt: 1 });
  const countOf = async (name: string): Promise<number> => {
    const { Attributes = {} } = await new SQSClient().send(
      new GetQueueAttributesCommand({ QueueUrl: urlOf(name), AttributeNames: ["All"] }),
    );
    return (
      Number(Attributes.ApproximateNumberOfMessages) +
      Number(Attributes.ApproximateNumberOfMessagesNotVisible)
    );
  };
  return { invokedAt, receives, countOf };
};

const redrive = (maxReceiveCount: number) => ({
  RedrivePolicy: { deadLetterTargetArn: { "Fn::GetAtt": ["DeadLetters", "Arn"] }, maxReceiveCount },
});

test("a message at which its worker failed comes again in 30 to 60 seconds", async () => {
  const { invokedAt, countOf } = await start((index) => (index === 0 ? "fails" : "works"), {
    VisibilityTimeout: 240,
    ...redrive(3),
  });
  await expect.poll(() => invokedAt.length).toBe(2);
  const [first = 0, second = 0] = invokedAt;
  expect(second - first).toBeGreaterThanOrEqual((30 * 1000) / speed);
  await expect.poll(() => countOf("Work")).toBe(0);
  expect(await countOf("DeadLetters")).toBe(0);
});

test("a message that always fails becomes a dead letter after its last receive", async () => {
  const { receives, countOf } = await start(() => "fails", { VisibilityTimeout: 240, ...redrive(3) });
  await expect.poll(() => countOf("DeadLetters")).toBe(1);
  expect(receives).toEqual([1, 2, 3]);
  expect(await countOf("Work")).toBe(0);
});

describe("a message that no worker handled waits for the visibility timeout", () => {
  test.each<Course>(["is throttled", "is killed"])("when the invocation %s", async (course) => {
    const { invokedAt, receives, countOf } = await start((index) => (index < 3 ? course : "works"), {
      VisibilityTimeout: 1,
      ...redrive(100),
    });
    await expect.poll(() => invokedAt.length).toBe(4);
    expect(receives).toEqual([1, 2, 3, 4]);
    const waits = invokedAt.slice(1).map((at, index) => at - (invokedAt[index] ?? 0));
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(990);
    await expect.poll(() => countOf("Work")).toBe(0);
    expect(await countOf("DeadLetters")).toBe(0);
  });
});

test("delays after failures are random, double, and end at ten minutes", () => {
  const delays = (receives: number) => Array.from({ length: 200 }, () => retryDelaySeconds(receives));
  for (const [receives, longest] of [
    [1, 60],
    [2, 120],
    [3, 240],
    [50, 600],
  ] as const) {
    const drawn = delays(receives);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(longest / 2);
    expect(Math.max(...drawn)).toBeLessThanOrEqual(longest);
    expect(new Set(drawn).size).toBeGreaterThan(10);
  }
});
