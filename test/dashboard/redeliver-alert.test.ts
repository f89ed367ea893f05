import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import * as table from "../../shared/aws/table/table.ts";
import { expectRefusal, timestamp, unknownId } from "../endpoints/reply.ts";
import { addWebhook } from "../service/add-webhook.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { waitForRequests } from "../service/receiver.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
let hook: string;
let channel: number;
let id: number;

const redeliver = (of: number, delivery: number) =>
  user.dashboard.post(`/alert-configs/${of}/deliveries/${delivery}/redeliver`);

const delivery = async (of = channel) => {
  const { body } = await user.dashboard.get(`/alert-configs/${of}/deliveries`);
  return (body.deliveries as Record<string, unknown>[])[0];
};

const until = (of: number, status: string) =>
  eventually(
    () => delivery(of),
    (each) => each?.status === status,
  );

const sendTest = async (of: number): Promise<number> =>
  (await user.dashboard.post(`/alert-configs/${of}/test`)).body.deliveryId as number;

beforeAll(async () => {
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", new URL(inject("receiverUrl")).origin);
  organization = await createOrganization();
  user = await signedIn(organization.id, { role: "member" });
  hook = `${inject("receiverUrl")}/redeliver-${organization.id}`;
  channel = await addWebhook(organization.id, hook);
  id = await sendTest(channel);
  await until(channel, "delivered");
});
afterAll(() => vi.unstubAllEnvs());

describe("202", () => {
  test("a delivered event again, with the same id; attempts are counted on", async () => {
    expect(await redeliver(channel, id)).toMatchObject({
      status: 202,
      body: { success: true, deliveryId: id },
    });
    const received = await waitForRequests(hook, 2);
    const bodies = received.map(({ body }) => JSON.parse(String(body)));
    expect(bodies.map((body) => body.id)).toEqual([id, id]);
    expect(bodies[1].data).toEqual(bodies[0].data);
    expect(await until(channel, "delivered")).toMatchObject({ attempts: 2, failedAttempts: 0 });
  });

  test("one that was given up, which gets three more attempts", async () => {
    const failing = await addWebhook(organization.id, `${hook}-failing?status=500`);
    const failed = await sendTest(failing);
    await eventually(
      () => delivery(failing),
      (each) => each?.failedAttempts === 3,
    );
    // As if the last of its 30 attempts had failed.
    const row = await deliveries.get(organization.id, failed);
    await table.update(deliveries.key(organization.id, failed), {
      set: { attemptLimit: row?.attempts ?? 3 },
    });
    await redeliver(failing, failed);
    expect(await until(failing, "not delivered")).toMatchObject({ nextAttemptAt: null });
    const counted = async () => {
      const { body } = await user.dashboard.get("/overview");
      const shown = body.channels as { id: number; notDelivered: number; failing: boolean }[];
      return shown.find((each) => each.id === failing);
    };
    const failingState = { notDelivered: 1, failing: true, failingSince: timestamp };
    expect(await counted()).toMatchObject(failingState);
    const { configs } = (await organization.api.get("/alert-configs?include=details")).body;
    expect(configs).toContainEqual(expect.objectContaining({ id: failing, ...failingState }));
    const listed = await user.dashboard.get(`/alert-configs/${failing}/deliveries?status=not%20delivered`);
    expect(listed.body).toMatchObject({ total: 1, deliveries: [{ id: failed }] });

    const { attempts } = (await delivery(failing)) as { attempts: number };
    expect(await redeliver(failing, failed)).toMatchObject({ status: 202 });
    expect(await counted()).toMatchObject({ notDelivered: 0 });
    await eventually(
      () => delivery(failing),
      (each) => each?.attempts === attempts + 3 && each.status === "not delivered",
    );
    expect(await counted()).toMatchObject({ notDelivered: 1 });
  });
});

describe("404", () => {
  test("an unknown channel or delivery, and a delivery of another channel", async () => {
    const other = await addWebhook(organization.id, `${hook}-other`);
    expectRefusal(await redeliver(unknownId, id), 404, /alert config/);
    expectRefusal(await redeliver(channel, unknownId), 404, /delivery/);
    expectRefusal(await redeliver(other, id), 404, /delivery/);
  });
});

describe("409", () => {
  test("while an attempt is in flight", async () => {
    const lease = { token: "held", until: new Date(Date.now() + 60_000).toISOString() };
    const key = deliveries.key(organization.id, id);
    await table.update(key, { set: { lease } });
    expectRefusal(await redeliver(channel, id), 409, /in progress/, { code: "delivery_in_progress" });
    await table.update(key, { remove: ["lease"] });
  });

  test("a disabled channel", async () => {
    await organization.api.patch(`/alert-configs/${channel}`, { isEnabled: false });
    expectRefusal(await redeliver(channel, id), 409, /disabled/, { code: "channel_disabled" });
  });
});
