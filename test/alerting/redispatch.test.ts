import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { marshall } from "@aws-sdk/util-dynamodb";
import type { Context } from "aws-lambda";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { handler } from "../../functions/redispatch-alerts/handler.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { deliveries, raise } from "../../shared/alerting/deliveries/delivery.ts";
import { redispatch } from "../../shared/alerting/deliveries/redispatch.ts";
import { dueShardsOf, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import type { Message } from "../../shared/contract/messages.ts";
import { newestVersion } from "../../shared/contract/version.ts";
import { due } from "../../shared/outbox/outbox.ts";
import { recordCapacity } from "../aws/table/engine.ts";
import { store } from "../aws/table/stored-rows.ts";
import { createOrganization, invocation, takeMessages, useWorkers } from "../scanning/in-process-workers.ts";
import { createChannel } from "./channels.ts";

const perEvent = 20;
const hour = 3_600_000;

useWorkers();
let org: number;
let recipients: channels.Channel[];
/** The deliveries of a test. */
const made: number[] = [];
let sendings: number;
/** The deliveries whose messages the queue refuses, and whether it fails whole requests. */
let refused: Set<number>;
let isDown: boolean;

const { send } = SQSClient.prototype;
type Send = (this: SQSClient, command: unknown) => Promise<{ Failed?: unknown[] }>;

/** Makes the queue accept batches in part, as SQS does when one of its servers fails. */
const sendSome: Send = async function (command) {
  const isBatch = command instanceof SendMessageBatchCommand;
  if (isBatch || command instanceof SendMessageCommand) sendings++;
  if (!isBatch) return (send as Send).call(this, command);
  if (isDown) throw new Error("AccessDenied");
  const isRefused = ({ MessageBody = "" }) => refused.has(JSON.parse(MessageBody).deliveryId);
  const { failed = [], accepted = [] } = Object.groupBy(command.input.Entries ?? [], (entry) =>
    isRefused(entry) ? "failed" : "accepted",
  );
  const Failed = failed.map(({ Id }) => ({ Id, SenderFault: false, Code: "InternalError" }));
  if (accepted.length === 0) return { Failed };
  command.input.Entries = accepted;
  return { ...(await (send as Send).call(this, command)), Failed };
};

beforeAll(async () => {
  SQSClient.prototype.send = sendSome as typeof send;
  org = await createOrganization({});
  const form = { channel: "webhook", config: { url: "https://1.1.1.1/" } } as const;
  for (let index = 0; index < perEvent; index++)
    await createChannel(org, {}, form, { notifyOnScanError: true });
  recipients = await channels.list(org);
});
afterAll(() => {
  SQSClient.prototype.send = send;
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

test("an outbox row that this release cannot read does not hold up deliveries", async () => {
  const ids = await makeDue(20);
  const unreadable = { ...keys.outbox(org, "AT#newer"), ...due(org, new Date().toISOString()) };
  await store([marshall({ ...unreadable, v: newestVersion + 1 })]);
  const run = handler(undefined, { getRemainingTimeInMillis: () => 60_000 } as Context);
  await expect(run).rejects.toThrow();
  expect(await sent()).toEqual(ids);
});

describe("a partial failure", () => {
  test("counts the failed ones, which are due again in a minute", async () => {
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
