/** Neither a channel that does not answer nor an organization with many alerts holds up others. */
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { handler } from "../../functions/deliver-alert/handler.ts";
import { type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import { type Sqs, startSqs } from "../../local/sqs/sqs.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { deliveries, raise } from "../../shared/alerting/deliveries/delivery.ts";
import * as queue from "../../shared/aws/queue/queue.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import * as table from "../../shared/aws/table/table.ts";
import { openWorkerTemplate } from "../local/template.ts";
import { createOrganization, useWorkers } from "../scanning/in-process-workers.ts";
import { createChannel } from "./channels.ts";

/** Fewer than channels that do not answer. */
const workers = 2;
const batch = 5;
const assembly = openWorkerTemplate({
  mapping: { BatchSize: batch, ScalingConfig: { MaximumConcurrency: workers } },
});

useWorkers();
let receiver: Receiver;
let sqs: Sqs;
/** Posts that were given up without an answer: now, and before the latest one to a healthy channel. */
let unanswered = 0;
let unansweredBefore = 0;

const invoke = async (_: string, event: unknown) => ({
  payload: await handler(event as never, { getRemainingTimeInMillis: () => 40_000 } as never),
});

beforeAll(async () => {
  receiver = await startReceiver({
    respond: ({ url }, response) => {
      if (url === "/healthy") unansweredBefore = unanswered;
      if (url !== "/hanging") return void response.writeHead(204).end();
      response.on("close", () => {
        unanswered++;
      });
    },
  });
  sqs = await startSqs({ assembly, lambda: { invoke }, speed: 1 });
  const urlOf = (name: string) => `${sqs.endpoint}/000000000000/${assembly.physicalId(name)}`;
  const environment = {
    OUTBOUND_ALLOWED_ORIGINS: receiver.origin,
    AWS_ENDPOINT_URL_SQS: sqs.endpoint,
    SOURCE_QUEUE_URL: urlOf("Work"),
    DELIVERIES_QUEUE_URL: urlOf("Work"),
    DELIVERY_RETRIES_QUEUE_URL: urlOf("DeadLetters"),
    REDISPATCH_INTERVAL_SECONDS: "3600",
    WAITING_INTERVAL_SECONDS: "300",
    LONGEST_WAIT_INTERVAL_SECONDS: "86400",
    POWERTOOLS_LOG_LEVEL: "SILENT",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
afterAll(async () => {
  await receiver.close();
  await sqs.close();
});
beforeEach(() => {
  receiver.requests.length = 0;
});

/** Adds so many webhooks at a path. */
const addWebhooks = async (org: number, path: string, count: number): Promise<void> => {
  const form = { channel: "webhook", config: { url: `${receiver.origin}${path}` } } as const;
  for (let made = 0; made < count; made++) await createChannel(org, {}, form, { notifyOnScanError: true });
};

/** Raises so many events for all channels, and sends their messages. */
const raiseEvents = async (org: number, count: number): Promise<void> => {
  const events = Array.from({ length: count }, () => ({ type: "scan_error", error: "An event" }) as const);
  const { writes, messages } = await raise(org, await channels.list(org), events);
  for (const some of chunk(writes, 50)) await table.transact(deliveries.writes(org, some));
  await queue.sendAll("deliveries", messages);
};

const arrivals = (path: string): number =>
  receiver.requests.filter((request) => request.path === path).length;

test("more channels that do not answer than workers take hold up no other channel", async () => {
  const org = await createOrganization({});
  // Events go to the latest channels first.
  await addWebhooks(org, "/healthy", 4);
  await addWebhooks(org, "/hanging", 16);
  await raiseEvents(org, 2);
  await vi.waitUntil(() => arrivals("/healthy") === 8, { timeout: 120_000 });
  // If attempts held a worker, these deliveries would wait until the first batches had been given up.
  expect(unansweredBefore).toBeLessThan(batch * workers);
});

test("an organization with many channels and events does not hold up another", async () => {
  const [busy, calm] = [await createOrganization({}), await createOrganization({})];
  await addWebhooks(busy, "/busy", 20);
  await addWebhooks(calm, "/calm", 1);
  await raiseEvents(busy, 12);
  await raiseEvents(calm, 10);
  const before = arrivals("/busy");
  await vi.waitUntil(() => arrivals("/calm") === 10, { timeout: 120_000 });
  const last = receiver.requests.findLastIndex(({ path }) => path === "/calm");
  const meanwhile = receiver.requests.slice(0, last).filter(({ path }) => path === "/busy").length - before;
  // The two workers have at most a hundred messages in flight before. If each channel had a turn, the ten
  // alerts of one channel would wait for two hundred of twenty channels.
  expect(meanwhile).toBeLessThan(150);
});
