/** Messages carry the version of their form, and those of a later release are left in their queue. */
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Context, SQSEvent } from "aws-lambda";
import { afterAll, beforeAll, expect, test } from "vitest";
import { consume } from "../../../shared/aws/queue/consume.ts";
import * as queue from "../../../shared/aws/queue/queue.ts";
import { scheduled } from "../../../shared/aws/queue/scheduled.ts";
import { NewerVersion, newestVersion } from "../../../shared/contract/version.ts";

const message = { organizationId: 1, acknowledgementId: 2 };
const context = { getRemainingTimeInMillis: () => 10_000 } as Context;

let server: Server;
const bodies: string[] = [];

type Entry = { Id: string; MessageBody: string };

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const asked = (await json(request)) as Entry & { Entries?: Entry[] };
    const accepted = (asked.Entries ?? [asked]).map(({ Id, MessageBody }) => {
      bodies.push(MessageBody);
      const MD5OfMessageBody = createHash("md5").update(MessageBody).digest("hex");
      return { Id, MessageId: "1", MD5OfMessageBody };
    });
    response.end(JSON.stringify(asked.Entries ? { Successful: accepted } : accepted[0]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SQS: url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    ACKNOWLEDGEMENTS_QUEUE_URL: `${url}/1/acknowledgements`,
  });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

test("one message and each of a batch carry the version", async () => {
  await queue.send("acknowledgements", message);
  await queue.sendAll("acknowledgements", [{ message }, { message }]);
  expect(bodies.map((body) => JSON.parse(body))).toEqual(Array(3).fill({ v: 1, ...message }));
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
