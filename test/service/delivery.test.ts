import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type ReceivedRequest, type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import type { LocalService } from "../../local/harness/service.ts";
import { ofChannel } from "../../shared/alerting/deliveries/delivery.ts";
import * as transitions from "../../shared/alerting/deliveries/transitions.ts";
import { addWebhook } from "./add-webhook.ts";
import { admin as adminOf } from "./admin.ts";
import type { ListedDelivery } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { createKeyClient } from "./organization.ts";
import { startOwnService } from "./own-service.ts";

type Event = { id: number; type: string; timestamp: string; data: Record<string, unknown> };
const eventOf = ({ body }: ReceivedRequest): Event => JSON.parse(body.toString("utf8"));

type Answer = (response: ServerResponse) => void;
const accept: Answer = (response) => void response.writeHead(204).end();
const fail: Answer = (response) => void response.writeHead(500).end();
const reset: Answer = (response) => void response.destroy();
/** How the receiver answers, by path. */
const answers = new Map<string, Answer>();

let receiver: Receiver;
let service: LocalService;

/** At this speed an hour takes two thirds of a second. */
beforeAll(async () => {
  receiver = await startReceiver({
    respond: (request, response) => answers.get(request.url ?? "")?.(response as ServerResponse),
  });
  service = await startOwnService(["--memory", "--speed", "5400", "--allow-origin", receiver.origin]);
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", receiver.origin);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await service?.stop();
  await receiver?.close();
});

const admin = (command: string, flags: Record<string, string | number>) =>
  adminOf(command, flags, service.apiUrl);

type Channel = { org: number; id: number; path: string };

/** Creates an organization with one webhook channel, whose receiver answers with `answer`. */
const createChannel = async (name: string, answer: Answer): Promise<Channel> => {
  const { id: org } = await admin("org create", { name, "scan-every": "never" });
  const path = `/${name}`;
  answers.set(path, answer);
  return { org, id: await addWebhook(org, `${receiver.origin}${path}`), path };
};

/** Makes deliveries without a scan; gives their ids, ascending. */
const raiseEvents = async ({ org, id }: Channel, count: number): Promise<number[]> => {
  const ids: number[] = [];
  for (let made = 0; made < count; made++) {
    ids.push((await admin("channel test", { org, channel: id })).id);
  }
  return ids;
};

const received = ({ path }: Channel): ReceivedRequest[] =>
  receiver.requests.filter((request) => request.path === path);

const listDeliveries = async ({ org, id }: Channel): Promise<ListedDelivery[]> =>
  (await admin("delivery list", { org, channel: id })).deliveries as ListedDelivery[];

/** Waits until all deliveries of a channel have the fields of `expected`. */
const untilAll = (channel: Channel, expected: Partial<ListedDelivery>, seconds = 90) =>
  eventually(
    () => listDeliveries(channel),
    (all) =>
      all.length > 0 &&
      all.every((each) =>
        Object.entries(expected).every(([name, value]) => each[name as keyof ListedDelivery] === value),
      ),
    seconds,
  );

/** Gives up the open deliveries of a channel, as their last attempts would hours later. */
const giveUp = (channel: Channel) =>
  eventually(
    async () => {
      for await (const rows of ofChannel(channel.org, channel.id)) {
        for (const row of rows)
          if (row.dueAt !== undefined) await transitions.giveUp(channel.org, row, "down");
      }
      return listDeliveries(channel);
    },
    (all) => all.every(({ status }) => status === "not delivered"),
  );

/** Waits, to show that nothing comes. */
const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/**
 * The tests run concurrently, since they mostly wait; each has its own organization and path of the receiver.
 */
describe.concurrent("deliveries over hours", () => {
  test("a receiver that always fails sees 30 posts in 10 groups of 3, then silence", async () => {
    const channel = await createChannel("fails", fail);
    const [id] = await raiseEvents(channel, 1);
    const [delivery] = await untilAll(channel, { status: "not delivered" }, 180);
    expect(delivery).toMatchObject({ id, attempts: 30, failedAttempts: 30, failureReason: "HTTP 500" });
    await pause(2);

    const posts = received(channel);
    expect(posts).toHaveLength(30);
    const events = posts.map(eventOf);
    expect(new Set(events.map(({ id }) => id))).toEqual(new Set([id]));
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(30);
    // Dispatches are an "hour" apart, and the attempts of one dispatch less. The first attempts start the
    // functions.
    const pauses = posts
      .slice(1)
      .map(({ receivedAt }, index) => receivedAt.getTime() - (posts[index]?.receivedAt.getTime() ?? 0));
    const between = pauses.filter((_, index) => index % 3 === 2);
    const within = pauses.filter((_, index) => index % 3 !== 2).sort((a, b) => a - b);
    expect(Math.min(...between)).toBeGreaterThan(600);
    expect(within[Math.floor(within.length / 2)]).toBeLessThan(Math.min(...between));

    const retry = () => admin("delivery retry", { org: channel.org, delivery: id as number });
    expect(await retry()).toMatchObject({ id, attempt: 31 });
    await untilAll(channel, { status: "not delivered", attempts: 33 });
    await pause(2);
    expect(received(channel)).toHaveLength(33);
    answers.set(channel.path, accept);
    await retry();
    await untilAll(channel, { status: "delivered", attempts: 34, failedAttempts: 33 });
    await expect(retry()).rejects.toThrow("The delivery was delivered.");
  }, 240_000);

  test("a Slack hook that is gone ends its deliveries, and another channel is told", async () => {
    const told = await createChannel("told", accept);
    answers.set("/gone", (response) => void response.writeHead(410).end("channel_is_archived"));
    const api = await createKeyClient(told.org, service.apiUrl);
    const config = { webhookUrl: `${receiver.origin}/gone` };
    const { body } = await api.post("/alert-configs", { channel: "slack", config });
    const gone = { org: told.org, id: body.id as number, path: "/gone" };
    const failureReason = "HTTP 410 (channel_is_archived)";
    await raiseEvents(gone, 2);
    await untilAll(gone, { status: "not delivered", attempts: 1, failureReason });
    await untilAll(told, { status: "delivered" });
    await pause(1);
    expect(received(gone)).toHaveLength(2);
    expect(received(told).map((post) => eventOf(post).data.error)).toEqual([
      `Alerts do not reach the Slack alert channel ${gone.id}: ${failureReason}. Check its settings, then send it a test.`,
    ]);
  });

  test("a receiver that is down for a while gets every event once it is back", async () => {
    const channel = await createChannel("down", reset);
    const ids = await raiseEvents(channel, 3);
    await eventually(
      async () => received(channel),
      (posts) => posts.length >= 6 * ids.length,
    );
    answers.set(channel.path, accept);
    const back = Date.now();
    const deliveries = await untilAll(channel, { status: "delivered" });
    expect(deliveries.map(({ id }) => id).sort()).toEqual(ids);
    const accepted = received(channel).filter(({ receivedAt }) => receivedAt.getTime() >= back);
    expect([...new Set(accepted.map((post) => eventOf(post).id))].sort()).toEqual(ids);
  });

  test("deliveries of a disabled channel wait until it is enabled again in time", async () => {
    let held: ServerResponse | undefined;
    const channel = await createChannel("disabled", (response) => {
      held = response;
    });
    const api = await createKeyClient(channel.org, service.apiUrl);
    const enable = (isEnabled: boolean) => api.patch(`/alert-configs/${channel.id}`, { isEnabled });
    // Changes nothing but starts the function, for which there is no time later: a day takes 16 s.
    expect(await enable(true)).toMatchObject({ status: 200 });
    await raiseEvents(channel, 1);
    await eventually(
      async () => held,
      (response) => response !== undefined,
    );
    expect(await enable(false)).toMatchObject({ status: 200 });
    answers.set(channel.path, accept);
    if (held !== undefined) fail(held);
    // In this time two retries and several dispatches would come.
    await untilAll(channel, { status: "retrying" });
    await pause(2);
    expect(received(channel)).toHaveLength(1);
    expect(await enable(true)).toMatchObject({ status: 200 });
    await untilAll(channel, { status: "delivered", attempts: 2, failedAttempts: 1 });
  });

  test("deliveries of a channel that stays disabled are given up a day after their event", async () => {
    const channel = await createChannel("abandoned", fail);
    const { id } = await admin("channel test", { org: channel.org, channel: channel.id });
    await untilAll(channel, { id, status: "retrying" });
    const api = await createKeyClient(channel.org, service.apiUrl);
    expect(await api.patch(`/alert-configs/${channel.id}`, { isEnabled: false })).toMatchObject({
      status: 200,
    });
    const [given] = await untilAll(channel, { failureReason: "channel was disabled" });
    expect(given).toMatchObject({ id, status: "not delivered" });
    expect(given?.attempts).toBeLessThan(30);
  });

  test("a channel removed during retries gets nothing more and leaves no history", async () => {
    const channel = await createChannel("removed", fail);
    await raiseEvents(channel, 3);
    await untilAll(channel, { status: "retrying" });
    const api = await createKeyClient(channel.org, service.apiUrl);
    expect(await api.delete(`/alert-configs/${channel.id}`)).toMatchObject({ status: 200 });
    await pause(1);
    const posts = received(channel).length;
    await pause(2);
    expect(received(channel)).toHaveLength(posts);
    await expect(listDeliveries(channel)).rejects.toThrow(`The organization has no channel ${channel.id}.`);
  });

  test("one command sends again what was given up of a channel, and nothing else", async () => {
    const [channel, other] = await Promise.all([createChannel("bulk", fail), createChannel("spared", fail)]);
    const org = { org: channel.org };
    const inSameOrganization = {
      ...other,
      ...org,
      id: await addWebhook(channel.org, `${receiver.origin}/spared`),
    };
    const channels = [channel, inSameOrganization];
    const ids = await raiseEvents(channel, 3);
    await raiseEvents(inSameOrganization, 1);
    for (const each of channels) await untilAll(each, { status: "retrying" });
    for (const each of channels) await giveUp(each);
    answers.set(channel.path, accept);
    const [delivered] = await raiseEvents(channel, 1);
    await eventually(
      () => listDeliveries(channel),
      ([newest]) => newest?.id === delivered && newest?.status === "delivered",
    );
    const postsBefore = received(inSameOrganization).length;

    const list = (flags: Record<string, string | number>) =>
      admin("delivery list", { ...org, channel: channel.id, ...flags }) as Promise<{
        deliveries?: unknown;
        nextOffset?: number;
      }>;
    const idsIn = async (flags: Record<string, string | number>) => {
      const { deliveries: shown, nextOffset } = await list(flags);
      return { ids: (shown as ListedDelivery[]).map(({ id }) => id), nextOffset };
    };
    const [first, second, third] = ids;
    expect(await idsIn({})).toEqual({ ids: [delivered, third, second, first] });
    expect(await idsIn({ limit: 3 })).toEqual({ ids: [delivered, third, second], nextOffset: 3 });
    expect(await idsIn({ limit: 3, offset: 3 })).toEqual({ ids: [first] });
    expect(await idsIn({ status: "not-delivered", limit: 2 })).toEqual({
      ids: [third, second],
      nextOffset: 2,
    });
    expect(await idsIn({ status: "not-delivered", limit: 2, offset: 2 })).toEqual({ ids: [first] });
    expect(await idsIn({ status: "delivered" })).toEqual({ ids: [delivered] });
    await expect(list({ status: "gone" })).rejects.toThrow(/^--status: .*pending, .*not-delivered\.$/);
    await expect(list({ limit: 1001 })).rejects.toThrow("--limit: must be from 1 to 1000.");

    const retry = () => admin("delivery retry", { ...org, channel: channel.id });
    expect(await retry()).toEqual({ channelId: channel.id, retried: 3 });
    await untilAll(channel, { status: "delivered" });
    expect(await retry()).toEqual({ channelId: channel.id, retried: 0 });
    await pause(2);
    const accepted = received(channel)
      .slice(-4)
      .map((post) => eventOf(post).id);
    expect(accepted.sort()).toEqual([...ids, delivered].sort());
    expect(received(inSameOrganization)).toHaveLength(postsBefore);
    expect(await listDeliveries(inSameOrganization)).toMatchObject([{ status: "not delivered" }]);

    for (const flags of [{}, { channel: channel.id, delivery: 1 }]) {
      await expect(admin("delivery retry", { ...org, ...flags })).rejects.toThrow(
        "Give --delivery for one, or --channel for all of a channel that were given up.",
      );
    }
    await expect(admin("delivery retry", { ...org, channel: 999_999_999 })).rejects.toThrow(
      "The organization has no channel 999999999.",
    );
  });

  test("a test event is a delivery of its own, whatever the channel wants", async () => {
    const channel = await createChannel("test", accept);
    const { org, id: channelId } = channel;
    const api = await createKeyClient(channel.org, service.apiUrl);
    await api.patch(`/alert-configs/${channelId}`, { notifyOnScanError: false });
    expect(await admin("channel list", { org })).toEqual({
      channels: [
        expect.objectContaining({
          id: channelId,
          channel: "webhook",
          config: { urlPreview: `${receiver.origin}/...`, hasSecret: false },
          failingSince: null,
        }),
      ],
    });
    const { id } = await admin("channel test", { org, channel: channelId });
    await untilAll(channel, { status: "delivered", attempts: 1 });
    expect(received(channel).map(eventOf)).toEqual([
      {
        id,
        type: "scan_error",
        timestamp: expect.any(String),
        data: { error: expect.stringContaining("a test of the alert channel") },
      },
    ]);
    await api.patch(`/alert-configs/${channelId}`, { isEnabled: false });
    await expect(admin("channel test", { org, channel: channelId })).rejects.toThrow(
      `The channel ${channelId} is disabled: enable it with PATCH /alert-configs/${channelId} {"isEnabled": true}.`,
    );
    await expect(admin("delivery retry", { org, delivery: 999_999_999 })).rejects.toThrow(
      "The organization has no delivery 999999999.",
    );
  });
});
