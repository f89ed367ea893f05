/**
 * When messages come again at which workers fail. That those that always fail become dead letters is tested
 * in test/local/sqs.
 */
import type { Context, SQSEvent } from "aws-lambda";
import { expect, onTestFinished, test, vi } from "vitest";
import { startSqs } from "../../../local/sqs/sqs.ts";
import { consume, retryDelaySeconds } from "../../../shared/aws/queue/consume.ts";
import * as queue from "../../../shared/aws/queue/queue.ts";
import { openWorkerTemplate } from "../../local/template.ts";

/** Delays pass so many times faster; visibility timeouts do not. */
const speed = 300;

test("a message at which its worker failed comes again in 30 to 60 seconds", async () => {
  const invokedAt: number[] = [];
  const handler = consume("deliveries", async () => {
    if (invokedAt.length === 1) throw new Error("failed");
  });
  const invoke = async (_: string, event: unknown) => {
    invokedAt.push(Date.now());
    const context = { getRemainingTimeInMillis: () => 30_000 } as Context;
    return handler(event as SQSEvent, context).then(
      () => ({ payload: null }),
      () => ({ functionError: "Unhandled" as const, payload: {} }),
    );
  };
  const assembly = openWorkerTemplate({ queue: { VisibilityTimeout: 240 } });
  const sqs = await startSqs({ assembly, lambda: { invoke }, speed });
  onTestFinished(async () => {
    await sqs.close();
    vi.unstubAllEnvs();
  });
  const url = `${sqs.endpoint}/000000000000/${assembly.physicalId("Work")}`;
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
  await queue.send("deliveries", { organizationId: 1, deliveryId: 1, channelId: 1, attempt: 1 });
  await expect.poll(() => invokedAt.length).toBe(2);
  const [first = 0, second = 0] = invokedAt;
  expect(second - first).toBeGreaterThanOrEqual((30 * 1000) / speed);
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
