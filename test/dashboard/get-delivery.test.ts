import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import type { Channel } from "../../shared/alerting/channels/channel.ts";
import * as channelRows from "../../shared/alerting/channels/channel.ts";
import * as byHand from "../../shared/alerting/deliveries/by-hand.ts";
import { expectRefusal, timestamp, unknownId } from "../endpoints/reply.ts";
import { addWebhook } from "../service/add-webhook.ts";
import { admin } from "../service/admin.ts";
import { addBreachedEmail, createChannel, inboxOf } from "../service/alert-channels.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { type Received, waitForRequests } from "../service/receiver.ts";
import { scan } from "../service/scan.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;

beforeAll(async () => {
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", new URL(inject("receiverUrl")).origin);
  organization = await createOrganization();
  user = await signedIn(organization.id, { role: "member" });
});
afterAll(() => vi.unstubAllEnvs());

const listed = async (channel: number): Promise<{ id: number; status: string }[]> =>
  (await user.dashboard.get(`/alert-configs/${channel}/deliveries`)).body.deliveries as [];

const get = (channel: number, id: number) => user.dashboard.get(`/alert-configs/${channel}/deliveries/${id}`);

/** Waits until all deliveries of a channel are delivered, and gives the oldest. */
const oldest = async (channel: number): Promise<{ id: number }> => {
  const all = await eventually(
    () => listed(channel),
    (some) => some.length > 0 && some.every(({ status }) => status === "delivered"),
  );
  return all.at(-1) as { id: number };
};

describe("200", () => {
  let channels: Record<"webhook" | "slack" | "email", number>;
  const secret = "a secret of the receiver";
  const inbox = (kind: string) => inboxOf(organization, `payloads-${kind}`);

  beforeAll(async () => {
    const { api } = organization;
    const webhook = { url: inbox("webhook"), secret };
    channels = {
      webhook: await createChannel(api, { channel: "webhook", config: webhook }),
      slack: await createChannel(api, { channel: "slack", config: { webhookUrl: inbox("slack") } }),
      email: await createChannel(api, { channel: "email", config: { recipients: ["soc@acme.example"] } }),
    };
    await addBreachedEmail(organization, { ownerName: "Ada Lovelace" });
    await scan(api);
  });

  test.each(["webhook", "slack"] as const)("of a %s: byte by byte what was sent", async (kind) => {
    const [received] = await waitForRequests(inbox(kind), 1);
    const entry = await oldest(channels[kind]);
    const { status, body } = await get(channels[kind], entry.id);
    const { payload, ...rest } = body;
    expect(status).toBe(200);
    expect(rest).toEqual(entry);
    expect(payload).toBe(String((received as Received).body));
    expect(rest).toMatchObject({ lastResponse: { status: 204, body: "" }, waitsFor: null });
    for (const hidden of [secret, received?.headers["x-service-signature"] ?? secret, inbox(kind)])
      expect(JSON.stringify(body)).not.toContain(hidden);
  });

  test("of an e-mail: subject and text, without the recipient's link", async () => {
    const entry = await oldest(channels.email);
    const { body } = await get(channels.email, entry.id);
    expect(body).toMatchObject({ lastResponse: null, lastAttemptAt: timestamp });
    expect(body.payload).toMatch(/^Subject: .+\n\n/);
    expect(body.payload).toContain("ada@demo.example");
    expect(body.payload).toContain("Owner: Ada Lovelace");
    expect(body.payload).not.toMatch(/Unsubscribe|recipient#/);
  });

  test("before the first attempt there is no payload", async () => {
    const channel = await addWebhook(organization.id, inbox("disabled"));
    await organization.api.patch(`/alert-configs/${channel}`, { isEnabled: false });
    const row = (await channelRows.get(organization.id, channel)) as Channel;
    const { body } = await get(channel, await byHand.sendTest(organization.id, row));
    expect(body).toMatchObject({ attempts: 0, payload: null, lastResponse: null });
  });
});

describe("400", () => {
  test.each(["0", "x"])("an id of %s", async (id) => {
    const reply = await user.dashboard.get(`/alert-configs/1/deliveries/${id}`);
    expectRefusal(reply, 400, /^deliveryId/);
  });
});

describe("404", () => {
  test("an unknown channel or delivery, another channel's, and those of others", async () => {
    const [channel, other] = (await Promise.all(
      ["one", "other"].map((name) => addWebhook(organization.id, inboxOf(organization, name))),
    )) as [number, number];
    await admin("channel test", { org: organization.id, channel });
    const { id } = await oldest(channel);
    expectRefusal(await get(unknownId, id), 404, /alert config/);
    expectRefusal(await get(channel, unknownId), 404, /delivery/);
    expectRefusal(await get(other, id), 404, /delivery/);
  });
});
