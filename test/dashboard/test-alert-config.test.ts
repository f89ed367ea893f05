import { afterAll, beforeAll, describe, expect, inject, test, vi } from "vitest";
import { presetCount, subjects } from "../endpoints/limit-window.ts";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { addWebhook } from "../service/add-webhook.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { waitForRequests } from "../service/receiver.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;

const sendTest = (channel: number) => user.dashboard.post(`/alert-configs/${channel}/test`);

beforeAll(async () => {
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", new URL(inject("receiverUrl")).origin);
  organization = await createOrganization();
  user = await signedIn(organization.id, { role: "member" });
});
afterAll(() => vi.unstubAllEnvs());

describe("202", () => {
  test("sends a test event to the channel, whatever it is notified of", async () => {
    const hook = `${inject("receiverUrl")}/test-${organization.id}`;
    const channel = await addWebhook(organization.id, hook);
    await organization.api.patch(`/alert-configs/${channel}`, {
      notifyOnNewBreach: false,
      notifyOnScanComplete: false,
      notifyOnScanError: false,
    });
    const reply = await sendTest(channel);
    expect(reply).toMatchObject({ status: 202, body: { success: true, deliveryId: expect.any(Number) } });
    const [received] = await waitForRequests(hook, 1);
    expect(JSON.parse(String(received?.body))).toMatchObject({
      id: reply.body.deliveryId,
      type: "scan_error",
      data: { error: expect.stringContaining("test") },
    });
  });
});

describe("404", () => {
  test("an unknown channel", async () => expectRefusal(await sendTest(unknownId), 404, /alert config/));
});

describe("409", () => {
  test("a disabled channel", async () => {
    const channel = await addWebhook(organization.id, `${inject("receiverUrl")}/disabled`);
    await organization.api.patch(`/alert-configs/${channel}`, { isEnabled: false });
    expectRefusal(await sendTest(channel), 409, /disabled/, { code: "channel_disabled" });
  });
});

describe("429", () => {
  test("tests and redeliveries share 20 requests an hour", async () => {
    const { id: org } = await createOrganization();
    const { dashboard } = await signedIn(org);
    const channel = await addWebhook(org, `${inject("receiverUrl")}/limited-${org}`);
    await presetCount(subjects.organization(org, "alertTests"), 19, 3600);
    const tested = await dashboard.post(`/alert-configs/${channel}/test`);
    expect(tested).toMatchObject({ status: 202 });
    const again = `/alert-configs/${channel}/deliveries/${tested.body.deliveryId}/redeliver`;
    for (const path of [again, `/alert-configs/${channel}/test`]) {
      const reply = await dashboard.post(path);
      expectRefusal(reply, 429, /hourly limit/);
      expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
    }
  });
});
