import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
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
/** How the receiver answers, by path. */
const answers = new Map<string, Answer>();

let receiver: Receiver;
let service: LocalService;

/** An hour takes two thirds of a second. */
const speed = 5_400;

beforeAll(async () => {
  receiver = await startReceiver({
    respond: (request, response) => answers.get(request.url ?? "")?.(response as ServerResponse),
  });
  service = await startOwnService(["--memory", "--speed", String(speed), "--allow-origin", receiver.origin]);
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

/**
 * The tests run concurrently, since they mostly wait; each has its own organization and path of the receiver.
 */
describe.concurrent("deliveries over hours", () => {
  test("a receiver that always fails sees 30 posts in 10 groups of 3, then silence", async () => {
    const channel = await createChannel("fails", fail);
    const [id] = await raiseEvents(channel, 1);
    const [delivery] = await untilAll(channel, { status: "not delivered" }, 170);
    expect(delivery).toMatchObject({ id, attempts: 30, failedAttempts: 30, failureReason: "HTTP 500" });

    const posts = received(channel);
    expect(posts).toHaveLength(30);
    const events = posts.map(eventOf);
    expect(new Set(events.map(({ id }) => id))).toEqual(new Set([id]));
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(30);
    // Dispatches are an "hour" apart, of three attempts each. An event tells when its attempt began.
    const begun = events.map(({ timestamp }) => Date.parse(timestamp));
    const pauses = begun.slice(1).map((at, index) => at - (begun[index] ?? 0));
    const between = pauses.filter((_, index) => index % 3 === 2);
    expect(Math.min(...between)).toBeGreaterThanOrEqual(Math.floor(3_600_000 / speed));

    const retry = () => admin("delivery retry", { org: channel.org, delivery: id as number });
    expect(await retry()).toMatchObject({ id, attempt: 31 });
    await untilAll(channel, { status: "not delivered", attempts: 33 });
    // Three "hours", in which nothing comes.
    await pause(2_000);
    expect(received(channel)).toHaveLength(33);
    answers.set(channel.path, accept);
    await retry();
    await untilAll(channel, { status: "delivered", attempts: 34, failedAttempts: 33 });
    await expect(retry()).rejects.toThrow(
      'The delivery was delivered: "Deliver again" on the dashboard sends it once more.',
    );
  });

  test("deliveries of a channel that stays disabled are given up a day after their event", async () => {
    const held: ServerResponse[] = [];
    const channel = await createChannel("abandoned", (response) => void held.push(response));
    const [id] = await raiseEvents(channel, 1);
    await eventually(
      async () => held.length,
      (count) => count > 0,
    );
    const api = await createKeyClient(channel.org, service.apiUrl);
    expect((await api.patch(`/alert-configs/${channel.id}`, { isEnabled: false })).status).toBe(200);
    answers.set(channel.path, fail);
    for (const response of held) fail(response);
    const [given] = await untilAll(channel, { failureReason: "channel was disabled" });
    expect(given).toMatchObject({ id, status: "not delivered" });
    expect(given?.attempts).toBeLessThan(30);
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
    for (const each of channels) {
      await eventually(
        () => listDeliveries(each),
        (all) => all.every(({ attempts }) => attempts > 0),
      );
      await giveUp(each);
    }
    const accepted: number[] = [];
    answers.set(channel.path, (response) => {
      // The one that is answered has just come.
      accepted.push(eventOf(receiver.requests.at(-1) as ReceivedRequest).id);
      accept(response);
    });
    const [delivered] = await raiseEvents(channel, 1);
    await eventually(
      () => listDeliveries(channel),
      ([newest]) => newest?.id === delivered && newest?.status === "delivered",
    );
    const spared = await listDeliveries(inSameOrganization);
    expect(spared).toMatchObject([{ status: "not delivered" }]);

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
    expect(new Set(accepted)).toEqual(new Set([...ids, delivered]));
    // One that is sent again is open, and counts its attempts.
    expect(await listDeliveries(inSameOrganization)).toEqual(spared);

    for (const flags of [{}, { channel: channel.id, delivery: 1 }]) {
      await expect(admin("delivery retry", { ...org, ...flags })).rejects.toThrow(
        "Give --delivery for one, or --channel for all of a channel that were given up.",
      );
    }
    for (const what of ["channel", "delivery"]) {
      await expect(admin("delivery retry", { ...org, [what]: 999_999_999 })).rejects.toThrow(
        `The organization has no ${what} 999999999: "${what} list" shows those that there are.`,
      );
    }
    const api = await createKeyClient(channel.org, service.apiUrl);
    await api.patch(`/alert-configs/${channel.id}`, { isEnabled: false });
    await expect(admin("channel test", { ...org, channel: channel.id })).rejects.toThrow(
      `The channel ${channel.id} is disabled: enable it with PATCH /alert-configs/${channel.id} {"isEnabled": true}.`,
    );
  });
});
