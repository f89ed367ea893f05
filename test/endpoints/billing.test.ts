import { describe, expect, test } from "vitest";
import { admin, type Client, createOrganization, type Reply } from "../service/client.ts";
import { countStatuses, expectRefusal } from "./reply.ts";
import { signIn } from "./session.ts";
import { preview } from "./upload.ts";

/** Every endpoint, as it would succeed but for the billing. */
const requestAll = (api: Client, domainId: number): Promise<Reply[]> =>
  Promise.all([
    api.post("/scans"),
    api.get("/scans"),
    api.get("/emails"),
    api.post("/emails", { email: "alan@demo.example", domainId }),
    api.delete("/emails?id=1"),
    api.patch("/emails/1", { isActive: false }),
    api.get("/breaches"),
    api.post("/breaches/acknowledge", { id: 1 }),
    api.get("/alert-configs"),
    api.post("/alert-configs", { channel: "webhook", config: { url: "https://192.0.32.8/" } }),
    api.patch("/alert-configs/1", { isEnabled: false }),
    api.delete("/alert-configs/1"),
    api.get("/activity"),
    preview(api, "alan@demo.example"),
    api.post("/emails/import/commit", { emails: [], quote: {} }),
  ]);

const lastYear = "2025-01-01T00:00:00Z";
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

describe("402", () => {
  test.each(["trial_expired", "subscription_inactive", "price_not_recognized", "collection_paused"])(
    "%s: on every endpoint, with this reason; nothing is done, and nothing is lost",
    async (status) => {
      const { id: org, api, domainId } = await createOrganization();
      await api.post("/emails", { email: "ada@demo.example", domainId });
      await admin("org billing", { org, status });
      for (const reply of await requestAll(api, domainId)) expectRefusal(reply, 402, /./, { reason: status });
      await admin("org billing", { org, status: "active" });
      expect((await api.get("/emails")).body).toMatchObject({
        total: 1,
        emails: [{ email: "ada@demo.example", isActive: true }],
      });
      expect((await api.get("/scans")).body.total).toBe(0);
      expect((await api.get("/alert-configs")).body.configs).toEqual([]);
      expect((await api.get("/activity")).body.total).toBe(2);
    },
  );

  test("trial_expired from the end of a trial on", async () => {
    const { id: org, api } = await createOrganization({ billing: "trialing", "trial-ends": inAnHour() });
    expect((await api.get("/emails")).status).toBe(200);
    await admin("org billing", { org, status: "trialing", "trial-ends": lastYear });
    expectRefusal(await api.get("/emails"), 402, /trial has expired/, { reason: "trial_expired" });
    await admin("org billing", { org, status: "trialing", "trial-ends": inAnHour() });
    expect((await api.get("/emails")).status).toBe(200);
  });

  test("an end of the trial given in another time zone is the same instant", async () => {
    const zoned = (milliseconds: number) =>
      new Date(Date.now() + milliseconds + 10 * 3_600_000).toISOString().replace("Z", "+10:00");
    const { id: org, api } = await createOrganization({ billing: "trialing", "trial-ends": zoned(60_000) });
    expect((await api.get("/emails")).status).toBe(200);
    await admin("org billing", { org, status: "trialing", "trial-ends": zoned(-60_000) });
    expectRefusal(await api.get("/emails"), 402, /trial has expired/, { reason: "trial_expired" });
  });

  test("comes after authentication and before the route and the input; with a session too", async () => {
    const organization = await createOrganization();
    const { id: org, api, keyId } = organization;
    const user = await signIn(organization);
    await admin("org billing", { org, status: "subscription_inactive" });
    const reason = { reason: "subscription_inactive" };
    expectRefusal(await user.api.get("/emails"), 402, /subscription/, reason);
    expectRefusal(await api.get("/nothing"), 402, /subscription/, reason);
    expectRefusal(await api.request("PUT", "/emails"), 402, /subscription/, reason);
    expectRefusal(await api.request("POST", "/emails", { raw: "{" }), 402, /subscription/, reason);
    await admin("key revoke", { org, key: keyId });
    expectRefusal(await api.get("/emails"), 401, /./);
  });

  test("uses up nothing of the organization's hourly limits", async () => {
    const { id: org, api } = await createOrganization();
    await admin("org billing", { org, status: "collection_paused" });
    const refused = await Promise.all(Array.from({ length: 12 }, () => api.post("/scans")));
    expect(countStatuses(refused)).toEqual({ 402: 12 });
    await admin("org billing", { org, status: "active" });
    expect((await api.post("/scans")).status).toBe(400);
  });
});

describe("200", () => {
  test("active and past_due organizations, and trials without an end, are served", async () => {
    const { id: org, api } = await createOrganization({ billing: "trialing" });
    expect((await api.get("/emails")).status).toBe(200);
    for (const status of ["past_due", "active"]) {
      await admin("org billing", { org, status });
      expect((await api.get("/emails")).status).toBe(200);
    }
  });

  test("an active subscription is served whenever an earlier trial ended", async () => {
    const { api } = await createOrganization({ billing: "active", "trial-ends": lastYear });
    expect((await api.get("/emails")).status).toBe(200);
  });
});
