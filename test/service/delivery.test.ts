import type { ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ReceivedRequest, type Receiver, startReceiver } from "../alerts/receiver.ts";
import { startAnother } from "./another.ts";
import { type Breaches, createBreaches, inventedBreach } from "./breaches.ts";
import { admin, createOrganization, eventually, type Organization, scan } from "./client.ts";
import type { LocalService } from "./run.ts";

const domain = "deliveries.example";
const addresses = Array.from({ length: 5 }, (_, index) => `user${index}@${domain}`);

type Event = { id: number; type: string; timestamp: string; data: Record<string, unknown> };
const eventOf = ({ body }: ReceivedRequest): Event => JSON.parse(body.toString("utf8"));

/** Every receiver answers as `answer` says, which a test may change. */
let answer: (response: ServerResponse) => void;
const accept = (response: ServerResponse): void => void response.writeHead(204).end();
const fail = (response: ServerResponse): void => void response.writeHead(500).end();
const reset = (response: ServerResponse): void => void response.destroy();

let breaches: Breaches;
let receiver: Receiver;
let service: LocalService;

const start = async (options: readonly string[]): Promise<void> => {
  const accounts = Object.fromEntries(addresses.map((address) => [address, ["Alpha"]]));
  breaches = await createBreaches(accounts, [inventedBreach("Alpha")]);
  receiver = await startReceiver({
    respond: (request, response) =>
      request.url?.startsWith("/hang") ? undefined : answer(response as ServerResponse),
  });
  const allowed = ["--allow-origin", receiver.origin, "--breaches", breaches.directory];
  service = await startAnother(["--memory", ...allowed, ...options]);
};

const stop = async (): Promise<void> => {
  await service?.stop();
  await receiver?.close();
};

const newOrganization = (): Promise<Organization> =>
  createOrganization({}, { domain, apiUrl: service.apiUrl });

const addChannel = async ({ api }: Organization, path: string): Promise<number> => {
  const created = await api.post("/alert-configs", {
    channel: "webhook",
    config: { url: `${receiver.origin}${path}` },
  });
  expect(created).toMatchObject({ status: 201 });
  return created.body.id as number;
};

/** Each address makes one event of each channel. */
const findBreaches = async ({ api, domainId }: Organization, emails: readonly string[]): Promise<string> => {
  for (const email of emails) {
    expect(await api.post("/emails", { email, domainId })).toMatchObject({ status: 201 });
  }
  return (await scan(api)).completedAt as string;
};

const received = (path: string): ReceivedRequest[] =>
  receiver.requests.filter((request) => request.path === path);

type Delivery = {
  id: number;
  type: string;
  status: string;
  attempts: number;
  failedAttempts: number;
  failureReason: string | null;
};
const listDeliveries = async ({ id }: Organization, channel: number): Promise<Delivery[]> =>
  (await admin("delivery list", { org: id, channel }, service.apiUrl)).deliveries as Delivery[];

/** Waits until all deliveries of a channel are as `like` says. */
const untilAll = (organization: Organization, channel: number, like: Partial<Delivery>, seconds = 60) =>
  eventually(
    () => listDeliveries(organization, channel),
    (all) =>
      all.length > 0 &&
      all.every((each) =>
        Object.entries(like).every(([name, value]) => each[name as keyof Delivery] === value),
      ),
    seconds,
  );

const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** An hour is a second. */
describe("deliveries over hours", () => {
  beforeAll(() => start(["--speed", "3600"]));
  afterAll(stop);

  test("a receiver that always fails sees 30 posts in 10 groups of 3, one id, 30 timestamps, then silence; by hand it gets a dispatch more", async () => {
    answer = fail;
    const organization = await newOrganization();
    const path = `/fails-${organization.id}`;
    const channel = await addChannel(organization, path);
    await findBreaches(organization, addresses.slice(0, 1));
    const [delivery] = await untilAll(organization, channel, { status: "not delivered" }, 120);
    expect(delivery).toMatchObject({ attempts: 30, failedAttempts: 30, failureReason: "HTTP 500" });
    await pause(3);

    const posts = received(path);
    expect(posts).toHaveLength(30);
    const events = posts.map(eventOf);
    expect(new Set(events.map(({ id }) => id))).toEqual(new Set([delivery?.id]));
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(30);
    // Dispatches are an "hour" apart, the attempts of one close together (the first of all start the functions).
    const pauses = posts
      .slice(1)
      .map(({ receivedAt }, index) => receivedAt.getTime() - (posts[index]?.receivedAt.getTime() ?? 0));
    const between = pauses.filter((_, index) => index % 3 === 2);
    const within = pauses.filter((_, index) => index % 3 !== 2).sort((a, b) => a - b);
    expect(Math.min(...between)).toBeGreaterThan(900);
    expect(within[Math.floor(within.length / 2)]).toBeLessThan(500);

    const retry = () =>
      admin("delivery retry", { org: organization.id, delivery: delivery?.id as number }, service.apiUrl);
    expect(await retry()).toMatchObject({ id: delivery?.id, attempt: 31 });
    await untilAll(organization, channel, { status: "not delivered", attempts: 33 });
    await pause(2);
    expect(received(path)).toHaveLength(33);
    answer = accept;
    await retry();
    await untilAll(organization, channel, { status: "delivered", attempts: 34, failedAttempts: 33 });
    await expect(retry()).rejects.toMatchObject({ stderr: "The delivery was delivered.\n" });
  }, 240_000);

  test("a receiver that is down for a while gets every event once it is back", async () => {
    answer = reset;
    const organization = await newOrganization();
    const path = `/down-${organization.id}`;
    const channel = await addChannel(organization, path);
    await findBreaches(organization, addresses);
    await eventually(
      async () => received(path),
      (posts) => posts.length >= 6 * addresses.length,
      60,
    );
    answer = accept;
    const back = Date.now();
    const deliveries = await untilAll(organization, channel, { status: "delivered" });
    const accepted = received(path).filter(({ receivedAt }) => receivedAt.getTime() >= back);
    const ids = deliveries.map(({ id }) => id).sort();
    expect(ids).toHaveLength(addresses.length);
    expect([...new Set(accepted.map((post) => eventOf(post).id))].sort()).toEqual(ids);
  }, 120_000);

  test("deliveries of a disabled channel wait; enabled again in time it gets them, else they are not delivered", async () => {
    answer = fail;
    const organization = await newOrganization();
    const path = `/disabled-${organization.id}`;
    const channel = await addChannel(organization, path);
    const enable = (isEnabled: boolean) => organization.api.patch(`/alert-configs/${channel}`, { isEnabled });
    await findBreaches(organization, addresses.slice(0, 1));
    await untilAll(organization, channel, { status: "retrying" });
    expect(await enable(false)).toMatchObject({ status: 200 });
    await pause(1);
    const posts = received(path).length;
    await pause(3);
    expect(received(path)).toHaveLength(posts);
    answer = accept;
    expect(await enable(true)).toMatchObject({ status: 200 });
    await untilAll(organization, channel, { status: "delivered" });

    answer = fail;
    const { id } = await admin("channel test", { org: organization.id, channel }, service.apiUrl);
    await untilAll(organization, channel, { id, status: "retrying" }, 1).catch(() => undefined);
    expect(await enable(false)).toMatchObject({ status: 200 });
    await eventually(
      () => listDeliveries(organization, channel),
      (all) => all.some((each) => each.id === id && each.failureReason === "channel was disabled"),
      60,
    );
    const [given] = await listDeliveries(organization, channel);
    expect(given).toMatchObject({ id, status: "not delivered" });
    expect(given?.attempts).toBeLessThan(30);
  }, 180_000);

  test("a channel that is removed while a delivery is retrying gets nothing more and leaves no history", async () => {
    answer = fail;
    const organization = await newOrganization();
    const path = `/removed-${organization.id}`;
    const channel = await addChannel(organization, path);
    await findBreaches(organization, addresses);
    await untilAll(organization, channel, { status: "retrying" });
    expect(await organization.api.delete(`/alert-configs/${channel}`)).toMatchObject({ status: 200 });
    await pause(1);
    const posts = received(path).length;
    await pause(3);
    expect(received(path)).toHaveLength(posts);
    expect(await listDeliveries(organization, channel)).toEqual([]);
  }, 120_000);

  test("a test event is a delivery of its own, whatever the channel wants", async () => {
    answer = accept;
    const organization = await newOrganization();
    const path = `/test-${organization.id}`;
    const channel = await addChannel(organization, path);
    await organization.api.patch(`/alert-configs/${channel}`, { notifyOnScanError: false });
    const listed = await admin("channel list", { org: organization.id }, service.apiUrl);
    expect(listed).toEqual({
      channels: [
        expect.objectContaining({
          id: channel,
          channel: "webhook",
          config: { urlPreview: `${receiver.origin}/...`, hasSecret: false },
        }),
      ],
    });
    const { id } = await admin("channel test", { org: organization.id, channel }, service.apiUrl);
    await untilAll(organization, channel, { status: "delivered", attempts: 1 });
    expect(received(path).map(eventOf)).toEqual([
      {
        id,
        type: "scan_error",
        timestamp: expect.any(String),
        data: { error: expect.stringContaining("a test of the alert channel") },
      },
    ]);
    await organization.api.patch(`/alert-configs/${channel}`, { isEnabled: false });
    await expect(
      admin("channel test", { org: organization.id, channel }, service.apiUrl),
    ).rejects.toMatchObject({ stderr: expect.stringContaining("is disabled") });
    await expect(
      admin("delivery retry", { org: organization.id, delivery: 999_999_999 }, service.apiUrl),
    ).rejects.toMatchObject({ stderr: "The organization has no delivery 999999999.\n" });
  }, 120_000);
});

describe("a channel whose receiver never answers", () => {
  beforeAll(() => start([]));
  afterAll(stop);

  test("does not hold up the others: their events arrive within two seconds", async () => {
    answer = accept;
    const organization = await newOrganization();
    const hanging = await addChannel(organization, `/hang-${organization.id}`);
    const paths = [1, 2, 3].map((index) => `/healthy-${index}-${organization.id}`);
    for (const path of paths) await addChannel(organization, path);
    // Round after round: the earlier ones' attempts hang while the later ones are sent.
    for (const [round, address] of addresses.entries()) {
      const completedAt = await findBreaches(organization, [address]);
      await eventually(
        async () => paths.map((path) => received(path).length),
        (counts) => counts.every((count) => count === round + 1),
      );
      const arrivals = paths.map((path) => received(path)[round]?.receivedAt.getTime() ?? 0);
      const late = Math.max(...arrivals) - Date.parse(completedAt);
      // The first round starts the functions.
      expect(late).toBeLessThan(round === 0 ? 10_000 : 2_000);
    }
    const waiting = await listDeliveries(organization, hanging);
    expect(waiting).toHaveLength(addresses.length);
    expect(waiting.every(({ status }) => status !== "delivered")).toBe(true);
  }, 120_000);
});
