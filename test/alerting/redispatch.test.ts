import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { buildApp } from "fauxqs";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as organizations from "../../shared/access/organizations/organization.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { deliveries, raise } from "../../shared/alerting/deliveries/delivery.ts";
import { redispatch } from "../../shared/alerting/deliveries/redispatch.ts";
import { wire } from "../../shared/aws/table/clients.ts";
import { dueShardsOf } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import type { Message } from "../../shared/contract/messages.ts";
import { urlVariable } from "../../shared/contract/worker.ts";
import { activeBilling } from "../access/organizations/billing.ts";
import { recordCapacity, useEngine } from "../aws/table/engine.ts";
import { invocation, takeMessages } from "../scanning/in-process-workers.ts";
import { createChannel } from "./channels.ts";
import { startParameterStore } from "./parameter-store.ts";

const perEvent = 20;
const hour = 3_600_000;

useEngine();
let parameters: Awaited<ReturnType<typeof startParameterStore>>;
let org: number;
let recipients: channels.Channel[];
/** The deliveries of a test. */
const made: number[] = [];
let sendings: number;
/** The deliveries whose messages the queue refuses, and whether it fails whole requests. */
let refused: Set<number>;
let isDown: boolean;
const queues = buildApp({ logger: false });

type Entry = { Id: string; MessageBody: string };

/** Makes the queue accept batches in part, as SQS does when one of its servers fails. */
const refuseSome = (): void => {
  const failedOf = new WeakMap<object, object[]>();
  queues.addHook("preHandler", async (request, reply) => {
    const target = request.headers["x-amz-target"]?.toString() ?? "";
    if (/SendMessage(Batch)?$/.test(target)) sendings++;
    if (!target.endsWith("SendMessageBatch")) return;
    if (isDown) return reply.status(403).send({ __type: "com.amazonaws.sqs#AccessDenied" });
    const body = request.body as { Entries: Entry[] };
    const isRefused = ({ MessageBody }: Entry) => refused.has(JSON.parse(MessageBody).deliveryId);
    const failed = body.Entries.filter(isRefused).map(({ Id }) => ({
      Id,
      SenderFault: false,
      Code: "InternalError",
    }));
    body.Entries = body.Entries.filter((entry) => !isRefused(entry));
    if (body.Entries.length === 0) {
      return reply.type("application/x-amz-json-1.0").send({ Successful: [], Failed: failed });
    }
    failedOf.set(request, failed);
  });
  queues.addHook("preSerialization", async (request, _reply, payload) => ({
    ...(payload as object),
    ...(failedOf.has(request) && { Failed: failedOf.get(request) }),
  }));
};

beforeAll(async () => {
  parameters = await startParameterStore();
  refuseSome();
  const url = await queues.listen({ host: "127.0.0.1", port: 0 });
  vi.stubEnv("AWS_ENDPOINT_URL_SQS", url);
  for (const name of ["deliveries", "delivery-retries"] as const) {
    await new SQSClient().send(new CreateQueueCommand({ QueueName: name }));
    vi.stubEnv(urlVariable(name), `${url}/000000000000/${name}`);
  }
  ({ id: org } = await organizations.create({ name: "Due", billing: activeBilling, scanEvery: "never" }));
  const form = { channel: "webhook", config: { url: "https://1.1.1.1/" } } as const;
  for (let index = 0; index < perEvent; index++)
    await createChannel(org, {}, form, { notifyOnScanError: true });
  recipients = await channels.list(org);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  wire().destroy();
  await queues.close();
  await parameters.close();
});
beforeEach(() => {
  sendings = 0;
  refused = new Set();
  isDown = false;
});
afterEach(async () => {
  vi.useRealTimers();
  await takeMessages("deliveries");
  await takeMessages("delivery-retries");
  for (const id of made.splice(0)) await end(id);
});

/** What a worker writes of the due index that ends a delivery. */
const end = (id: number) => table.update(deliveries.key(org, id), { remove: ["dueShard", "dueAt"] });

/** Makes deliveries whose messages were lost an hour ago. Returns their ids. From now on no time passes by itself. */
const makeDue = async (wanted: number): Promise<number[]> => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - hour });
  for (let event = 0; event < wanted / perEvent; event++) {
    const { writes, messages } = await raise(org, recipients, [{ type: "scan_error", error: "Test" }]);
    await table.transact(deliveries.writes(org, writes));
    made.push(...messages.map(({ message }) => message.deliveryId));
  }
  pass(hour);
  return [...made];
};

const pass = (milliseconds: number): void => {
  vi.setSystemTime(Date.now() + milliseconds);
};

/** The deliveries of messages, in order. */
const idsIn = (messages: Message<"deliveries">[]): number[] =>
  messages.map(({ deliveryId }) => deliveryId).sort((one, other) => one - other);

/** The deliveries whose first attempts were sent. */
const sent = async (): Promise<number[]> => idsIn(await takeMessages("deliveries"));

test("due deliveries of both queues take a write each and a tenth of a request, once", async () => {
  const ids = await makeDue(120);
  const retried = ids.slice(0, 40);
  for (const id of retried) await table.update(deliveries.key(org, id), { set: { attempts: 3 } });
  const capacity = recordCapacity();
  await redispatch(invocation());
  // Ten of a shard may be of both queues.
  expect(sendings).toBeLessThanOrEqual(2 * (120 / 10));
  const queries = dueShardsOf("DELIVERY").length;
  expect(capacity.take().calls).toBe(120 + queries);
  expect(await sent()).toEqual(ids.slice(40));
  const retries = await takeMessages("delivery-retries");
  expect(idsIn(retries)).toEqual(retried);
  expect(new Set(retries.map(({ attempt }) => attempt))).toEqual(new Set([4]));
  await redispatch(invocation());
  expect(await sent()).toEqual([]);
});

describe("a request that fails in part", () => {
  test("sends the others, counts those that failed, and they are due again in a minute", async () => {
    const ids = await makeDue(60);
    refused = new Set(ids.slice(5, 12));
    await expect(redispatch(invocation())).rejects.toThrow("7 deliveries were not re-dispatched");
    const accepted = ids.filter((id) => !refused.has(id));
    expect(await sent()).toEqual(accepted);
    for (const id of accepted) await end(id);
    refused = new Set();
    pass(61_000);
    await redispatch(invocation());
    expect(await sent()).toEqual(ids.slice(5, 12));
  });

  test("as a whole leaves all of its deliveries due in a minute", async () => {
    const ids = await makeDue(40);
    isDown = true;
    await expect(redispatch(invocation())).rejects.toThrow("40 deliveries were not re-dispatched");
    isDown = false;
    pass(61_000);
    await redispatch(invocation());
    expect(await sent()).toEqual(ids);
  });
});
