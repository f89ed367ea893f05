/** Messages carry the version of their form, and those of a later release are left in their queue. */
import type { Context, SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startQueues } from "../../../bench/in-process.ts";
import { consume, scheduled } from "../../../shared/aws/queue/consume.ts";
import * as queue from "../../../shared/aws/queue/queue.ts";
import { NewerVersion, newestVersion } from "../../../shared/contract/version.ts";

const message = { organizationId: 1, acknowledgementId: 2 };
const context = { getRemainingTimeInMillis: () => 10_000 } as Context;

let queues: Awaited<ReturnType<typeof startQueues>>;
beforeAll(async () => {
  queues = await startQueues();
  Object.assign(process.env, queues.variables, {
    SOURCE_QUEUE_URL: queues.variables.ACKNOWLEDGEMENTS_QUEUE_URL,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  });
});
afterAll(() => queues.close());

test("one message and each of a batch carry the version", async () => {
  await queue.send("acknowledgements", message);
  await queue.sendAll("acknowledgements", [{ message }, { message }]);
  const received = await queue.receive(10, 1);
  expect(received.map(({ body }) => JSON.parse(body))).toEqual(Array(3).fill({ v: 1, ...message }));
});

const receive = async (body: object): Promise<unknown[]> => {
  const handled: unknown[] = [];
  const handler = consume("acknowledgements", async (received) => void handled.push(received));
  const record = { body: JSON.stringify(body), messageId: "1", attributes: {} };
  await handler({ Records: [record] } as SQSEvent, context);
  return handled;
};

test.each([
  ["of the first version", { v: 1, ...message }],
  ["with a field that a later release has added", { v: 1, ...message, added: "later" }],
])("a message %s is handled", async (_, body) => {
  expect(await receive(body)).toEqual([message]);
});

test.each([newestVersion + 1, "1", null])(
  "a message of version %s fails and stays in its queue",
  async (v) => {
    await expect(receive({ v, ...message })).rejects.toThrow(NewerVersion);
  },
);

test("the input of a schedule is handled unless its version is newer", async () => {
  const handled: unknown[] = [];
  const handler = scheduled(async (input) => void handled.push(input));
  for (const input of [message, { v: 1, ...message }, undefined]) await handler(input, context);
  await expect(handler({ v: newestVersion + 1, ...message }, context)).rejects.toThrow(NewerVersion);
  expect(handled).toEqual([message, { v: 1, ...message }, undefined]);
});
