import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import type { Channel } from "../../shared/alerting/channels/channel.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import * as byHand from "../../shared/alerting/deliveries/by-hand.ts";
import { expectRefusal, timestamp, unknownId } from "../endpoints/reply.ts";
import { addWebhook } from "../service/add-webhook.ts";
import { addBreachedEmail } from "../service/alert-channels.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

type Listed = { channel: unknown; deliveries: { id: number; status: string }[]; total: number };

const testSentence = "This is a test of the alert channel, sent by an administrator. No scan had a problem.";

let user: SignedIn;
let working: number;
let failing: number;

const list = async (channel: number, query = ""): Promise<Listed> => {
  const reply = await user.dashboard.get(`/alert-configs/${channel}/deliveries${query}`);
  expect(reply).toMatchObject({ status: 200 });
  return reply.body as unknown as Listed;
};

const sendTest = async (channel: number): Promise<number> =>
  (await user.dashboard.post(`/alert-configs/${channel}/test`)).body.deliveryId as number;

beforeAll(async () => {
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", new URL(inject("receiverUrl")).origin);
  const { id: org } = await createOrganization();
  user = await signedIn(org, { role: "member" });
  const hook = (status: number) => `${inject("receiverUrl")}/deliveries-${org}-${status}?status=${status}`;
  working = await addWebhook(org, hook(204));
  failing = await addWebhook(org, hook(500));
});
afterAll(() => vi.unstubAllEnvs());

describe("200", () => {
  test("nothing of a channel without deliveries", async () => {
    const channel = { id: working, channel: "webhook", options: { name: null } };
    expect(await list(working)).toMatchObject({ channel, deliveries: [], total: 0 });
    expect(await list(working, "?status=pending")).toMatchObject({ channel, deliveries: [], total: 0 });
  });

  test("deliveries of the channel alone, newest first, with attempts and failures", async () => {
    const delivered = [await sendTest(working), await sendTest(working)];
    const failed = await sendTest(failing);
    const { deliveries } = await eventually(
      () => list(working),
      ({ deliveries: some }) => some.every(({ status }) => status === "delivered"),
    );
    const attempted = { attempts: 1, failedAttempts: 0, createdAt: timestamp, lastAttemptAt: timestamp };
    expect(deliveries).toEqual(
      delivered.toReversed().map((id) => ({
        id,
        type: "scan_error",
        status: "delivered",
        ...attempted,
        nextAttemptAt: null,
        failureReason: null,
        title: testSentence,
        owner: null,
        waitsFor: null,
        lastResponse: { status: 204, durationMs: expect.any(Number), body: "" },
      })),
    );
    const retrying = await eventually(
      () => list(failing, "?status=retrying"),
      ({ total }) => total === 1,
    );
    expect(retrying.deliveries).toMatchObject([
      {
        id: failed,
        status: "retrying",
        nextAttemptAt: timestamp,
        failureReason: expect.stringContaining("500"),
        waitsFor: { reason: "another attempt", until: timestamp },
        lastResponse: { status: 500, durationMs: expect.any(Number), body: "" },
      },
    ]);
  });

  test("of new breaches: a breach and how many more in the title, and nobody's address", async () => {
    const organization = await createOrganization();
    const own = await signedIn(organization.id);
    const channel = await addWebhook(organization.id, `${inject("receiverUrl")}/titles-${organization.id}`);
    await addBreachedEmail(organization);
    await scan(organization.api);
    const { body } = await own.dashboard.get(`/alert-configs/${channel}/deliveries`);
    const found = (await organization.api.get("/breaches")).body.breaches as { breach: { title: string } }[];
    const [completed, breach] = (body.deliveries as { title: string }[]).map(({ title }) => title);
    expect(completed).toBe("Scan complete: 3 new findings");
    expect(found.map((each) => `${each.breach.title} and 2 more: 1 person`)).toContain(breach);
  });

  test("what one waits for that cannot be attempted", async () => {
    const organization = await createOrganization();
    const own = await signedIn(organization.id);
    const id = await addWebhook(organization.id, `${inject("receiverUrl")}/held-${organization.id}`);
    await organization.api.patch(`/alert-configs/${id}`, { isEnabled: false });
    await byHand.sendTest(organization.id, (await channels.get(organization.id, id)) as Channel);
    const listed = () => own.dashboard.get(`/alert-configs/${id}/deliveries`);
    const { body } = await eventually(listed, ({ body }) => {
      const [only] = body.deliveries as { waitsFor: object | null }[];
      return only?.waitsFor !== null;
    });
    expect(body.deliveries).toMatchObject([
      {
        status: "pending",
        waitsFor: { reason: "channel was disabled", until: timestamp },
        lastResponse: null,
        failureReason: null,
      },
    ]);
  });

  test("by status and page, with the total of what matches", async () => {
    const { channel, deliveries } = await list(working);
    const one = { channel, deliveries: deliveries.slice(1), total: 2 };
    expect(await list(working, "?status=delivered&limit=1&offset=1")).toEqual(one);
    expect(await list(working, "?limit=1")).toEqual({ ...one, deliveries: deliveries.slice(0, 1) });
    const none = { channel, deliveries: [], total: 0 };
    expect(await list(working, "?status=not%20delivered")).toEqual(none);
    expect(await list(working, "?offset=9")).toEqual({ ...none, total: 2 });
  });
});

describe("400", () => {
  test.each(["status=not_delivered", "status=", "limit=0"])("?%s", async (query) => {
    const reply = await user.dashboard.get(`/alert-configs/${working}/deliveries?${query}`);
    expectRefusal(reply, 400, new RegExp(`^${query.split("=")[0]}`));
  });
});

describe("404", () => {
  test("an unknown channel", async () => {
    for (const query of ["", "?status=pending"]) {
      const reply = await user.dashboard.get(`/alert-configs/${unknownId}/deliveries${query}`);
      expectRefusal(reply, 404, /alert config/);
    }
  });
});
