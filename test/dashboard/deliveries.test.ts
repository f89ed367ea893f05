/** What the deliveries of a channel show, and how they are sent by hand. */
import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import * as byHand from "../../shared/alerting/attempts/by-hand.ts";
import type { Channel } from "../../shared/alerting/channels/channel.ts";
import * as channelRows from "../../shared/alerting/channels/channel.ts";
import { type Delivery, deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import * as transitions from "../../shared/alerting/deliveries/transitions.ts";
import * as table from "../../shared/aws/table/table.ts";
import { expectRefusal, timestamp, unknownId } from "../endpoints/reply.ts";
import { addWebhook } from "../service/add-webhook.ts";
import { addBreachedEmail, createChannel, inboxOf } from "../service/alert-channels.ts";
import type { Row } from "../service/client.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { type Received, waitForRequests } from "../service/receiver.ts";
import { scan } from "../service/scan.ts";
import { signedIn } from "./signed-in.ts";

type Listed = { channel: unknown; deliveries: Row[]; total: number };

beforeAll(() => vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", new URL(inject("receiverUrl")).origin));
afterAll(() => vi.unstubAllEnvs());

const create = async () => {
  const organization = await createOrganization();
  const { id: org, api } = organization;
  const { dashboard } = await signedIn(org, { role: "member" });
  const at = (channel: number, delivery?: number) =>
    `/alert-configs/${channel}/deliveries${delivery === undefined ? "" : `/${delivery}`}`;
  const list = async (channel: number, query = ""): Promise<Listed> => {
    const reply = await dashboard.get(at(channel) + query);
    expect(reply).toMatchObject({ status: 200 });
    return reply.body as unknown as Listed;
  };
  return {
    ...organization,
    org,
    dashboard,
    list,
    inbox: (name: string) => inboxOf(organization, name),
    webhook: (name: string, status = 204, flags: Partial<channelRows.Flags> = {}) =>
      addWebhook(org, `${inboxOf(organization, name)}?status=${status}`, flags),
    disable: (channel: number) => api.patch(`/alert-configs/${channel}`, { isEnabled: false }),
    /** A test that waits, since the channel is disabled. */
    sendWaiting: async (channel: number) =>
      byHand.sendTest(org, (await channelRows.get(org, channel)) as Channel),
    get: (channel: number, id: number) => dashboard.get(at(channel, id)),
    sendTest: (channel: number) => dashboard.post(`/alert-configs/${channel}/test`),
    redeliver: (channel: number, id: number) => dashboard.post(`${at(channel, id)}/redeliver`),
    /** Waits until the newest delivery of a channel is as described. */
    until: (channel: number, isThere: (newest: Row) => boolean) =>
      eventually(
        async () => (await list(channel)).deliveries[0],
        (newest) => newest !== undefined && isThere(newest),
      ),
  };
};

const isDelivered = ({ status }: Row): boolean => status === "delivered";

describe("a test", () => {
  const received = async (body: Record<string, unknown>, name: string) => {
    const { api, inbox, sendTest } = await create();
    const field = body.channel === "slack" ? "webhookUrl" : "url";
    const channel = await createChannel(api, { ...body, config: { [field]: inbox(name) } });
    const { deliveryId } = (await sendTest(channel)).body;
    const [request] = await waitForRequests(inbox(name), 1);
    return { deliveryId, event: api.get(`/events/${deliveryId}`), body: JSON.parse(String(request?.body)) };
  };

  test("a webhook gets an event of new breaches with the contract's fields alone", async () => {
    const { deliveryId, event, body } = await received({ channel: "webhook" }, "example");
    const breach = {
      breachId: expect.any(Number),
      title: "Test: Example Shop",
      domain: "shop.example",
      dataClasses: ["Email addresses", "Passwords"],
    };
    const breaches = [
      breach,
      { ...breach, title: "Test: Example Forum", domain: "forum.example", dataClasses: expect.any(Array) },
    ];
    expect(body).toEqual({ id: deliveryId, type: "breach", timestamp, data: { breaches } });
    expect((await event).body).toMatchObject({ type: "breach", findings: [], scan: null });
  });

  test("a webhook that wants no new breaches gets a sentence", async () => {
    const { body } = await received({ channel: "webhook", notifyOnNewBreach: false }, "sentence");
    expect(body).toMatchObject({
      type: "scan_error",
      data: { error: expect.stringMatching(/^This is a test/) },
    });
  });

  test("Slack gets the message of a scan", async () => {
    const { body } = await received({ channel: "slack" }, "slack-example");
    expect(body.text).toMatch(/^Test: High: Example Shop and 1 more, 2 people at /);
  });
});

describe("the list", () => {
  test("has the channel's own, newest first, by status and page, with totals", async () => {
    const { list, sendTest, webhook } = await create();
    // The other channel is not announced to it.
    const working = await webhook("list", 204, { notifyOnScanError: false });
    const failing = await webhook("list-failing", 500);
    const channel = { id: working, channel: "webhook", options: { name: null } };
    const none = { deliveries: [], total: 0 };
    expect(await list(working)).toMatchObject({ channel, ...none });
    const ids = [];
    for (const each of [working, working, failing]) ids.push((await sendTest(each)).body.deliveryId);
    const [first, second, failed] = ids;
    const { deliveries: delivered } = await eventually(
      () => list(working),
      ({ deliveries }) => deliveries.every(isDelivered),
    );
    const shown = {
      type: "breach",
      status: "delivered",
      attempts: 1,
      failedAttempts: 0,
      createdAt: timestamp,
      lastAttemptAt: timestamp,
      nextAttemptAt: null,
      failureReason: null,
      title: "This is a test of the alert channel, sent by hand. No scan had a problem.",
      owner: null,
      waitsFor: null,
      lastResponse: { status: 204, durationMs: expect.any(Number), body: "" },
    };
    expect(delivered).toEqual([
      { ...shown, id: second },
      { ...shown, id: first },
    ]);
    const page = { deliveries: delivered.slice(1), total: 2 };
    expect(await list(working, "?status=delivered&limit=1&offset=1")).toMatchObject(page);
    expect(await list(working, "?limit=1")).toMatchObject({ deliveries: delivered.slice(0, 1), total: 2 });
    expect(await list(working, "?status=not%20delivered")).toMatchObject(none);
    expect(await list(working, "?offset=9")).toMatchObject({ deliveries: [], total: 2 });

    // Between attempts, because one that is under way waits for nothing.
    const retrying = await eventually(
      () => list(failing, "?status=retrying"),
      ({ deliveries: [only] }) => only !== undefined && only.waitsFor !== null,
    );
    expect(retrying.deliveries).toMatchObject([
      {
        id: failed,
        nextAttemptAt: timestamp,
        failureReason: expect.stringContaining("500"),
        waitsFor: { reason: "another attempt", until: timestamp },
        lastResponse: { status: 500, durationMs: expect.any(Number), body: "" },
      },
    ]);
  });

  test("says what a delivery that has no payload yet waits for", async () => {
    const { list, get, webhook, disable, sendWaiting } = await create();
    const channel = await webhook("waiting");
    await disable(channel);
    const id = await sendWaiting(channel);
    const waiting = await eventually(
      () => list(channel),
      ({ deliveries: [only] }) => only.waitsFor !== null,
    );
    const waitsFor = { reason: "channel was disabled", until: timestamp };
    expect(waiting.deliveries).toMatchObject([
      { status: "pending", waitsFor, lastResponse: null, failureReason: null },
    ]);
    expect((await get(channel, id)).body).toMatchObject({ attempts: 0, payload: null, lastResponse: null });
  });
});

test("a delivery shows what was sent: by webhook and Slack byte by byte, mail as text", async () => {
  const { api, inbox, list, get, until, ...organization } = await create();
  const secret = "a secret of the receiver";
  const webhook = { url: inbox("webhook"), secret };
  const createOne = (body: Record<string, unknown>) =>
    createChannel(api, { ...body, notifyOnScanError: false });
  const channels = {
    webhook: await createOne({ channel: "webhook", config: webhook }),
    slack: await createOne({ channel: "slack", config: { webhookUrl: inbox("slack") } }),
    email: await createOne({ channel: "email", config: { recipients: ["soc@acme.example"] } }),
  };
  await addBreachedEmail({ api, ...organization }, { ownerName: "Ada Lovelace" });
  await scan(api);
  /** The oldest: new breaches come before the end of their scan. */
  const oldest = async (channel: number): Promise<Row> => {
    await until(channel, isDelivered);
    return (await list(channel)).deliveries.at(-1);
  };
  const found = await api.list("/breaches");
  for (const kind of ["webhook", "slack"] as const) {
    const [received] = (await waitForRequests(inbox(kind), 1)) as [Received];
    const entry = await oldest(channels[kind]);
    // Nobody's address is in a title.
    expect(found.map(({ breach }) => `${breach.title} and 2 more: 1 person`)).toContain(entry.title);
    const { status, body } = await get(channels[kind], entry.id);
    const { payload, unreached, ...rest } = body;
    expect([status, unreached]).toEqual([200, []]);
    expect(rest).toEqual(entry);
    expect(payload).toBe(String(received.body));
    for (const { breach } of found) expect(payload).toContain(breach.title);
    expect(rest).toMatchObject({ lastResponse: { status: 204, body: "" }, waitsFor: null });
    for (const hidden of [secret, received.headers["x-service-signature"] ?? secret, inbox(kind)])
      expect(JSON.stringify(body)).not.toContain(hidden);
  }
  const { body } = await get(channels.email, (await oldest(channels.email)).id);
  expect(body).toMatchObject({ lastResponse: null, lastAttemptAt: timestamp });
  expect(body.payload).toMatch(/^Subject: .+\n\n/);
  expect(body.payload).toContain("ada@demo.example");
  expect(body.payload).toContain("Owner: Ada Lovelace");
  expect(body.payload).not.toMatch(/Unsubscribe|recipient#/);
});

test("a test goes to the channel, whatever it is notified of; 409 if it is disabled", async () => {
  const { api, inbox, webhook, disable, sendTest } = await create();
  const channel = await webhook("test");
  await api.patch(`/alert-configs/${channel}`, {
    notifyOnNewBreach: false,
    notifyOnScanComplete: false,
    notifyOnScanError: false,
  });
  const reply = await sendTest(channel);
  expect(reply).toMatchObject({ status: 202, body: { success: true, deliveryId: expect.any(Number) } });
  const [received] = await waitForRequests(inbox("test"), 1);
  expect(JSON.parse(String(received?.body))).toMatchObject({
    id: reply.body.deliveryId,
    type: "scan_error",
    data: { error: expect.stringContaining("test") },
  });
  await disable(channel);
  expectRefusal(await sendTest(channel), 409, /disabled/, { code: "channel_disabled" });
});

describe("delivering again", () => {
  test("sends the same event, unless it is under way or its channel off", async () => {
    const { org, inbox, webhook, disable, sendTest, redeliver, get, until } = await create();
    const channel = await webhook("again");
    const id = (await sendTest(channel)).body.deliveryId as number;
    await until(channel, isDelivered);
    expect(await redeliver(channel, id)).toMatchObject({ status: 202, body: { deliveryId: id } });
    const received = await waitForRequests(inbox("again"), 2);
    const bodies = received.map(({ body }) => JSON.parse(String(body)));
    expect(bodies.map((body) => body.id)).toEqual([id, id]);
    expect(bodies[1].data).toEqual(bodies[0].data);
    // Attempts are counted on.
    const again = await until(channel, (each) => isDelivered(each) && each.attempts === 2);
    expect(again).toMatchObject({ failedAttempts: 0 });

    const lease = { token: "held", until: new Date(Date.now() + 3_600_000).toISOString() };
    const key = deliveries.key(org, id);
    await table.update(key, { set: { lease } });
    expectRefusal(await redeliver(channel, id), 409, /in progress/, { code: "delivery_in_progress" });
    await table.update(key, { remove: ["lease"] });
    await disable(channel);
    expectRefusal(await redeliver(channel, id), 409, /disabled/, { code: "channel_disabled" });

    const other = await webhook("other");
    expectRefusal(await redeliver(other, id), 404, /delivery/);
    expectRefusal(await get(other, id), 404, /delivery/);
    expectRefusal(await redeliver(unknownId, id), 404, /alert config/);
  });

  test("counts one given up, and tries it three times, after 1 and 2 s", async () => {
    const { org, api, dashboard, inbox, list, ...channels } = await create();
    const { webhook, sendTest, redeliver, until } = channels;
    const failing = await webhook("given-up", 500);
    const id = (await sendTest(failing)).body.deliveryId as number;
    const isGivenUp = ({ status }: Row): boolean => status === "not delivered";
    // As if the last of its 30 attempts had failed. While an attempt is under way, it cannot be given up.
    const giveUp = async (): Promise<Row> => {
      const row = (await deliveries.get(org, id)) as Delivery;
      if (row.attempts > 0) await transitions.giveUp(org, row, "down");
      return (await list(failing)).deliveries[0];
    };
    const { attempts, ...givenUp } = await eventually(giveUp, isGivenUp);
    expect(givenUp).toMatchObject({ nextAttemptAt: null });
    const counted = async () => {
      const { channels } = (await dashboard.get("/overview")).body as { channels: Row[] };
      return channels.find((each) => each.id === failing);
    };
    const failingState = { notDelivered: 1, failing: true, failingSince: timestamp };
    expect(await counted()).toMatchObject(failingState);
    const { configs } = (await api.get("/alert-configs?include=details")).body;
    expect(configs).toContainEqual(expect.objectContaining({ id: failing, ...failingState }));
    expect(await list(failing, "?status=not%20delivered")).toMatchObject({
      total: 1,
      deliveries: [{ id }],
    });

    expect(await redeliver(failing, id)).toMatchObject({ status: 202 });
    expect(await counted()).toMatchObject({ notDelivered: 0 });
    await until(failing, (each) => each.attempts === attempts + 3 && isGivenUp(each));
    expect(await counted()).toMatchObject({ notDelivered: 1 });
    const received = await waitForRequests(inbox("given-up"), attempts + 3);
    const events = received.slice(attempts).map(({ body }) => JSON.parse(String(body)));
    expect(events.map((event) => event.id)).toEqual([id, id, id]);
    // An event tells when its attempt began.
    const [first = 0, second = 0, third = 0] = events.map(({ timestamp }) => Date.parse(timestamp));
    expect(second - first).toBeGreaterThanOrEqual(1_000);
    expect(third - second).toBeGreaterThanOrEqual(2_000);
  });
});
