import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { redeliver, sendTest } from "../../shared/alerting/attempts/by-hand.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { deliveries, ofChannel } from "../../shared/alerting/deliveries/delivery.ts";
import type { ChannelForm } from "../../shared/alerting/kinds/kind.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { channelNotOpened } from "../../shared/contract/log-lines.ts";
import { activeBilling } from "../access/organizations/billing.ts";
import { recordCapacity } from "../aws/table/engine.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import reports from "../cases/reports.json" with { type: "json" };
import {
  createOrganization,
  logger,
  runOutbox,
  takeMessage,
  takeMessages,
  useWorkers,
} from "../scanning/in-process-workers.ts";
import { createChannel } from "./channels.ts";
import { deliverOne } from "./deliver-one.ts";
import { age, dayAgo, settings } from "./mail-deliveries.ts";

useWorkers();
let receiver: Receiver;
/** The next responses of the receiver; without one it responds with 200. */
let responses: Response[] = [];
type Response = { status: number; retryAfter?: string; text?: string };

beforeAll(async () => {
  receiver = await startReceiver({
    respond: (_, response) => {
      const { status, retryAfter, text } = responses.shift() ?? { status: 200 };
      response.writeHead(status, retryAfter === undefined ? {} : { "retry-after": retryAfter }).end(text);
    },
  });
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", receiver.origin);
});
afterAll(() => receiver.close());

const everyEvent = { notifyOnScanComplete: true, notifyOnScanError: true };

/**
 * A delivery for a new channel of this kind. `deliver(n)` makes its attempt n, `attempt` the next one, to
 * which the receiver responds as given; it gives the row.
 */
const deliveryFor = async (kind: "slack" | "webhook") => {
  const org = await createOrganization({});
  const url = `${receiver.origin}/hook`;
  const form: ChannelForm =
    kind === "slack"
      ? { channel: "slack", config: { webhookUrl: url } }
      : { channel: "webhook", config: { url } };
  const channelId = await createChannel(org, {}, form, everyEvent);
  const channel = await channels.get(org, channelId);
  if (channel === undefined) throw new Error("there is no channel");
  const deliveryId = await sendTest(org, channel);
  const message = await takeMessage("deliveries");
  const row = async () => deliveries.get(org, deliveryId);
  const deliver = (attempt: number) => deliverOne({ ...message, attempt }, settings);
  return {
    org,
    channelId,
    row,
    deliver,
    attempt: async (...given: Response[]) => {
      responses = given;
      await deliver(((await row())?.attempts ?? 0) + 1);
      return row();
    },
    redeliver: () => redeliver(org, channelId, deliveryId),
    age: () => age(org, deliveryId),
  };
};

test("a first attempt that arrives costs three requests, and one more once a minute", async () => {
  const first = await deliveryFor("webhook");
  const capacity = recordCapacity();
  await first.deliver(1);
  expect(capacity.take()).toEqual({ calls: 4, readUnits: 3, writeUnits: 4 });
  const { org, channelId, deliver, row } = await deliveryFor("webhook");
  const lastDeliveredAt = new Date().toISOString();
  await table.update(keys.channel(org, channelId), { set: { lastDeliveredAt } });
  capacity.take();
  await deliver(1);
  // The due index is written once, when the delivery leaves it.
  expect(capacity.take()).toEqual({ calls: 3, readUnits: 3, writeUnits: 3 });
  expect(await row()).toMatchObject({ status: "delivered", attempts: 1 });
});

test("a webhook that fails gets 30 attempts, an hour after each 3, then 3 per retry", async () => {
  const { attempt, redeliver, row } = await deliveryFor("webhook");
  receiver.requests.length = 0;
  for (let count = 1; count < 30; count++) {
    const before = Date.now();
    const failed = await attempt({ status: 500 });
    expect(failed).toMatchObject({ status: "retrying", attempts: count, failedAttempts: count });
    if (count % 3 === 0) expect(Date.parse(failed?.dueAt ?? "") - before).toBeGreaterThanOrEqual(3_600_000);
  }
  const over = { status: "not delivered", failureReason: "HTTP 500" };
  expect(await attempt({ status: 500 })).toMatchObject({ ...over, attempts: 30, failedAttempts: 30 });
  expect(await attempt({ status: 500 })).toMatchObject({ ...over, attempts: 30 });
  expect(receiver.requests).toHaveLength(30);
  await redeliver();
  for (let count = 0; count < 4; count++) await attempt({ status: 500 });
  expect(await row()).toMatchObject({ ...over, attempts: 33 });
  await redeliver();
  expect(await attempt()).toMatchObject({ status: "delivered", attempts: 34, failedAttempts: 33 });
  expect(receiver.requests).toHaveLength(34);
  await takeMessages("deliveries");
});

const throttled = { status: 429, retryAfter: "30" };

test("an attempt that Slack throttles is not counted and backs off ever longer", async () => {
  const { org, attempt } = await deliveryFor("slack");
  const delays: number[] = [];
  for (let count = 1; count <= 12; count++) {
    const before = Date.now();
    const row = await attempt(throttled);
    const after = Date.now();
    expect(row).toMatchObject({ status: "retrying", attempts: 0, failedAttempts: 0, throttled: count });
    expect(row?.lease).toBeUndefined();
    const dueAt = Date.parse(row?.dueAt ?? "");
    expect(dueAt - before).toBeGreaterThanOrEqual(30_000);
    expect(dueAt - after).toBeLessThanOrEqual(30_000 + 1_000 * Math.min(7_200, 60 * 2 ** (count - 1)));
    delays.push(dueAt - after);
  }
  expect(Math.max(...delays.slice(6))).toBeGreaterThan(Math.max(...delays.slice(0, 2)));
  const retries = await takeMessages("delivery-retries");
  expect(retries.filter(({ organizationId }) => organizationId === org)).toEqual([]);
  expect(await attempt()).toMatchObject({ status: "delivered", attempts: 1, failedAttempts: 0 });
});

test("a delivery that Slack throttled can be retried by hand, as its first attempt", async () => {
  const { attempt, redeliver } = await deliveryFor("slack");
  await attempt(throttled);
  await redeliver();
  expect(await takeMessages("deliveries")).toMatchObject([{ attempt: 1 }]);
  expect(await attempt()).toMatchObject({ status: "delivered", attempts: 1, failedAttempts: 0 });
});

test("a day after the event, an attempt that Slack throttles counts as failed", async () => {
  const { attempt, age } = await deliveryFor("slack");
  await age();
  expect(await attempt(throttled)).toMatchObject({
    status: "retrying",
    attempts: 1,
    failureReason: "HTTP 429",
  });
});

test("an old delivery that is sent again by hand waits like a new one", async () => {
  const { org, attempt, redeliver, age } = await deliveryFor("slack");
  await age();
  await organizations.set(org, { billing: { ...activeBilling, status: "subscription_inactive" } });
  expect(await attempt()).toMatchObject({ status: "not delivered" });
  await redeliver();
  expect(await attempt()).toMatchObject({ status: "retrying", attempts: 0 });
  await organizations.set(org, { billing: activeBilling });
  expect(await attempt(throttled)).toMatchObject({ status: "retrying", attempts: 0, throttled: 1 });
  await takeMessages("deliveries");
});

test.each(reports.slack.map(({ answer }) => answer))(
  "%j of Slack ends a delivery at its first attempt",
  async (response) => {
    const failureReason = `HTTP ${response.status}`;
    const { org, attempt } = await deliveryFor("slack");
    const row = await attempt(response);
    expect(row).toMatchObject({ status: "not delivered", attempts: 1, failedAttempts: 1, failureReason });
    expect(row?.dueAt).toBeUndefined();
    // Retries of other tests come after their delay.
    const retries = await takeMessages("delivery-retries");
    expect(retries.filter(({ organizationId }) => organizationId === org)).toEqual([]);
  },
);

test.each([
  ["slack", { status: 400, text: "invalid_payload" }],
  ["webhook", { status: 404 }],
] as const)("a %s channel tries again after %j", async (kind, response) => {
  const { attempt } = await deliveryFor(kind);
  const failureReason = `HTTP ${response.status}`;
  expect(await attempt(response)).toMatchObject({ status: "retrying", attempts: 1, failureReason });
  await takeMessages("delivery-retries");
});

/** Adds a webhook to an organization, and gives what it is told of failing channels. */
const addOther = async (org: number): Promise<() => Promise<string[]>> => {
  const other: ChannelForm = { channel: "webhook", config: { url: `${receiver.origin}/other` } };
  const otherId = await createChannel(org, {}, other, everyEvent);
  return async () => {
    await runOutbox();
    await takeMessages("deliveries");
    const found: string[] = [];
    for await (const rows of ofChannel(org, otherId)) {
      for (const { event } of rows) if (event.type === "scan_error") found.push(event.error);
    }
    return found;
  };
};

test.each([
  ["slack", 429],
  ["webhook", 500],
] as const)(
  "%s that answers only %i fails at once, and others are told a day later",
  async (kind, status) => {
    const { org, channelId, attempt, age } = await deliveryFor(kind);
    const told = await addOther(org);
    const failingSince = async () => (await channels.get(org, channelId))?.failingSince;
    const before = new Date().toISOString();
    await attempt({ status });
    const since = await failingSince();
    expect((since ?? "") >= before).toBe(true);
    await attempt({ status });
    expect([await failingSince(), await told()]).toEqual([since, []]);
    const longAgo = dayAgo();
    await table.update(keys.channel(org, channelId), { set: { failingSince: longAgo } });
    // Whatever was due a day ago is not: the delivery that fails now is new.
    await attempt({ status });
    expect([await failingSince(), await told()]).toEqual([longAgo, []]);
    await age();
    for (let count = 0; count < 2; count++) {
      expect(await attempt({ status })).toMatchObject({ status: "retrying" });
      expect(await failingSince()).toBe(longAgo);
      expect(await told()).toEqual([
        expect.stringContaining(`channel ${channelId}: HTTP ${status}. Check its settings`),
      ]);
    }
    await attempt();
    expect(await failingSince()).toBeUndefined();
    await takeMessages("delivery-retries");
  },
);

test("others are told once that a channel gives up, again a day later if it worked", async () => {
  const { org, channelId, attempt: attemptOne, redeliver } = await deliveryFor("slack");
  const told = await addOther(org);
  const attempt = async (response: Response) => {
    await attemptOne(response);
    await redeliver();
  };
  const sentence =
    `Alerts do not reach the Slack alert channel ${channelId}: HTTP 404. Check its settings, then ` +
    "send it a test.";
  await attempt({ status: 404 });
  expect(await told()).toEqual([sentence]);
  await attempt({ status: 410 });
  expect(await told()).toEqual([sentence]);
  await attempt({ status: 200 });
  await attempt({ status: 404 });
  expect([(await channels.get(org, channelId))?.failingSince, await told()]).toEqual([
    expect.any(String),
    [sentence],
  ]);
  await table.update(keys.channel(org, channelId), {
    set: { failureReportedAt: dayAgo(), name: "Security" },
  });
  await attempt({ status: 404 });
  const named = sentence.replace(`${channelId}`, `${channelId} "Security"`);
  expect((await told()).toSorted()).toEqual([sentence, named].toSorted());
});

test("a worker that dies when a delivery has arrived leaves no channel that fails", async () => {
  const { org, channelId, attempt, row } = await deliveryFor("webhook");
  await attempt({ status: 500 });
  const death = onTableRequest("a delivery that arrived", "after", async () => {
    throw new Error("killed");
  });
  await expect(attempt()).rejects.toThrow("killed");
  expect(death.happened).toBe(true);
  expect(await row()).toMatchObject({ status: "delivered" });
  expect((await channels.get(org, channelId))?.failingSince).toBeUndefined();
  await takeMessages("delivery-retries");
});

test.each([
  ["sends elsewhere", async () => ({ config: { webhookUrl: `${receiver.origin}/other-hook` } })],
  ["is disabled", async () => ({ isEnabled: false })],
  [
    "is enabled again",
    async (change: (patch: configure.ChannelPatch) => Promise<unknown>) => {
      await change({ isEnabled: false });
      return { isEnabled: true };
    },
  ],
])("a channel that %s does not fail yet, and others are told if it does", async (_, patchOf) => {
  const { org, channelId, attempt, redeliver } = await deliveryFor("slack");
  const told = await addOther(org);
  const change = (patch: configure.ChannelPatch) =>
    configure.change(org, channelId, patch, administrator, async () => {});
  const noticesOfFailures = async () =>
    (await told()).filter((error) => error.startsWith("Alerts do not reach"));
  await attempt({ status: 404 });
  // Another change leaves it as it is.
  await change({ notifyOnScanComplete: false });
  expect(await channels.get(org, channelId)).toHaveProperty("failureReportedAt");
  expect(await noticesOfFailures()).toHaveLength(1);
  await change(await patchOf(change));
  const { failingSince, failureReportedAt } = (await channels.get(org, channelId)) ?? {};
  expect([failingSince, failureReportedAt]).toEqual([undefined, undefined]);
  await change({ isEnabled: true });
  await redeliver();
  await attempt({ status: 404 });
  expect(await noticesOfFailures()).toHaveLength(2);
});

test("deliveries of an organization without a subscription wait, a day at most", async () => {
  const [served, givenUp] = [await deliveryFor("webhook"), await deliveryFor("webhook")];
  receiver.requests.length = 0;
  for (const { org, attempt } of [served, givenUp]) {
    await organizations.set(org, { billing: { ...activeBilling, status: "subscription_inactive" } });
    const row = await attempt();
    expect(row).toMatchObject({ status: "pending", attempts: 0 });
    const seconds = (Date.parse(row?.dueAt ?? "") - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(settings.waitingSeconds - 30);
    expect(seconds).toBeLessThanOrEqual(settings.waitingSeconds);
  }
  await givenUp.age();
  expect(await givenUp.attempt()).toMatchObject({
    status: "not delivered",
    failureReason: "subscription had lapsed",
  });
  expect((await channels.get(givenUp.org, givenUp.channelId))?.failingSince).toBeUndefined();
  expect(receiver.requests).toHaveLength(0);
  await organizations.set(served.org, { billing: activeBilling });
  expect(await served.attempt()).toMatchObject({ status: "delivered", attempts: 1 });
  expect(receiver.requests).toHaveLength(1);
});

test("a delivery whose channel does not open waits, and goes out once it opens", async () => {
  const { org, channelId, attempt, age } = await deliveryFor("webhook");
  receiver.requests.length = 0;
  const key = keys.channel(org, channelId);
  const { sealed } = (await table.get<{ sealed: string }>(key)) ?? {};
  await table.update(key, { set: { sealed: "1.unknown0.AAAA" } });
  // However old it is: only the key that is back decides it.
  await age();
  const errors = vi.spyOn(logger, "error");
  const waiting = await attempt();
  expect(errors.mock.calls).toEqual([[channelNotOpened, expect.objectContaining({ channelId })]]);
  expect(waiting).toMatchObject({
    status: "pending",
    attempts: 0,
    waits: { reason: "channel could not be opened" },
  });
  expect(Date.parse(waiting?.dueAt ?? "") - Date.now()).toBeGreaterThan(
    1_000 * (settings.waitingSeconds - 30),
  );
  expect(receiver.requests).toHaveLength(0);
  expect((await channels.get(org, channelId))?.failingSince).toBeDefined();
  await table.update(key, { set: { sealed } });
  expect(await attempt()).toMatchObject({ status: "delivered", attempts: 1 });
  expect(receiver.requests).toHaveLength(1);
  errors.mockRestore();
});
