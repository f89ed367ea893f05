import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import * as channels from "../../shared/alerts/channel.ts";
import * as configure from "../../shared/alerts/configure.ts";
import { attempt } from "../../shared/alerts/deliver.ts";
import { deliveries } from "../../shared/alerts/delivery.ts";
import { retry, sendTest } from "../../shared/alerts/operator.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as organizations from "../../shared/organizations/organization.ts";
import { keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import { activeBilling } from "../organizations/billing.ts";
import { createScanned, logger, startWorkers, take, type Workers } from "../scans/workers.ts";

let workers: Workers;
let receiver: Server;
let origin: string;
/** Of the next answers; then 200. */
let answers: { status: number; retryAfter?: string }[] = [];
let received = 0;

beforeAll(async () => {
  workers = await startWorkers();
  receiver = createServer((request, response) => {
    const { status, retryAfter } = answers.shift() ?? { status: 200 };
    received++;
    request.resume();
    response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", origin);
}, 60_000);
afterAll(async () => {
  receiver?.close();
  await workers?.stop();
});

const settings = { redispatchSeconds: 3_600, waitingSeconds: 300, longestWaitSeconds: 86_400 };
const flags = {
  isEnabled: true,
  notifyOnNewBreach: true,
  notifyOnScanComplete: true,
  notifyOnScanError: true,
};

/** A delivery for a channel of this kind, and what makes its attempt n. */
const deliveryFor = async (kind: "slack" | "webhook") => {
  const org = await createScanned({});
  const form =
    kind === "slack"
      ? ({ channel: "slack", config: { webhookUrl: `${origin}/hook` } } as const)
      : ({ channel: "webhook", config: { url: `${origin}/hook` } } as const);
  const channelId = await configure.create(org, { ...flags, ...form }, administrator, async () => {});
  const channel = await channels.get(org, channelId);
  if (channel === undefined) throw new Error("there is no channel");
  const deliveryId = await sendTest(org, channel);
  const [message] = await take("deliveries");
  if (message === undefined) throw new Error("there is no message");
  return {
    org,
    channelId,
    message,
    row: async () => deliveries.get(org, deliveryId),
    retry: () => retry(org, deliveryId),
    attempt: (number: number) => attempt({ ...message, attempt: number }, { logger }, settings),
  };
};

test("too much at once for Slack is no attempt: it comes back later, each time after longer, and is delivered", async () => {
  const delivery = await deliveryFor("slack");
  const longest: number[] = [];
  answers = Array.from({ length: 12 }, () => ({ status: 429, retryAfter: "30" }));
  for (let count = 1; count <= 12; count++) {
    await delivery.attempt(1);
    const row = await delivery.row();
    expect(row).toMatchObject({ status: "retrying", attempts: 0, failedAttempts: 0, throttled: count });
    expect(row?.lease).toBeUndefined();
    const seconds = (Date.parse(row?.dueAt ?? "") - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(29);
    expect(seconds).toBeLessThan(30 + Math.min(7_200, 60 * 2 ** (count - 1)) + 1);
    longest.push(seconds);
  }
  expect(Math.max(...longest.slice(6))).toBeGreaterThan(Math.max(...longest.slice(0, 2)));
  expect(await take("delivery-retries")).toEqual([]);
  await delivery.attempt(1);
  expect(await delivery.row()).toMatchObject({ status: "delivered", attempts: 1, failedAttempts: 0 });
});

test("what is too much at once for Slack can be sent again by hand, and the attempt that this makes is its first", async () => {
  const delivery = await deliveryFor("slack");
  answers = [{ status: 429, retryAfter: "30" }];
  await delivery.attempt(1);
  expect(await delivery.retry()).toBe("sent");
  const [message, ...others] = await take("deliveries");
  expect(others).toEqual([]);
  expect(message).toMatchObject({ attempt: 1 });
  await delivery.attempt(message?.attempt ?? 0);
  expect(await delivery.row()).toMatchObject({ status: "delivered", attempts: 1, failedAttempts: 0 });
});

test("too much at once for Slack is a failed attempt from a day after the event on: it does not go on for ever", async () => {
  const delivery = await deliveryFor("slack");
  answers = [{ status: 429, retryAfter: "30" }];
  const dayAgo = new Date(Date.now() - settings.longestWaitSeconds * 1000 - 1_000).toISOString();
  await table.update(deliveries.key(delivery.org, delivery.message.deliveryId), {
    set: { createdAt: dayAgo },
  });
  await delivery.attempt(1);
  expect(await delivery.row()).toMatchObject({ status: "retrying", attempts: 1, failureReason: "HTTP 429" });
});

test("of a webhook a 429 is a failed attempt like any other", async () => {
  const delivery = await deliveryFor("webhook");
  answers = [{ status: 429, retryAfter: "30" }];
  await delivery.attempt(1);
  expect(await delivery.row()).toMatchObject({ status: "retrying", attempts: 1, failureReason: "HTTP 429" });
});

test("an organization whose subscription has lapsed gets no alert: it waits, and is delivered when the organization is served again, or given up after a day", async () => {
  const [served, givenUp] = [await deliveryFor("webhook"), await deliveryFor("webhook")];
  received = 0;
  for (const { org, attempt, row } of [served, givenUp]) {
    await organizations.setBilling(org, { ...activeBilling, status: "subscription_inactive" });
    await attempt(1);
    expect(await row()).toMatchObject({ status: "pending", attempts: 0 });
    const seconds = (Date.parse((await row())?.dueAt ?? "") - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(settings.waitingSeconds - 30);
    expect(seconds).toBeLessThanOrEqual(settings.waitingSeconds);
  }
  const dayAgo = new Date(Date.now() - settings.longestWaitSeconds * 1000).toISOString();
  const key = deliveries.key(givenUp.org, givenUp.message.deliveryId);
  await table.update(key, { set: { createdAt: dayAgo } });
  await givenUp.attempt(1);
  expect(await givenUp.row()).toMatchObject({
    status: "not_delivered",
    failureReason: "subscription had lapsed",
  });
  expect(received).toBe(0);
  await organizations.setBilling(served.org, activeBilling);
  await served.attempt(1);
  expect(await served.row()).toMatchObject({ status: "delivered", attempts: 1 });
  expect(received).toBe(1);
});

test("the first attempt for a channel that is slow goes by way of the retries' lane, once", async () => {
  const { org, channelId, message, row } = await deliveryFor("webhook");
  received = 0;
  const slowUntil = new Date(Date.now() + 60_000).toISOString();
  await table.update(keys.channel(org, channelId), { set: { slowUntil } });
  await attempt(message, { logger }, settings);
  expect(received).toBe(0);
  expect(await row()).toMatchObject({ status: "pending", attempts: 0 });
  const [again, ...others] = await take("delivery-retries");
  expect([again, others]).toEqual([{ ...message, slow: true }, []]);
  await attempt({ ...message, slow: true }, { logger }, settings);
  expect(await row()).toMatchObject({ status: "delivered", attempts: 1 });
});
