import { describe, expect, test } from "vitest";
import { expectEveryHeader, expectRefusal, timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { signedIn, visitor } from "./signed-in.ts";

describe("200", () => {
  test("who is signed in, where, and until when", async () => {
    const { id: org } = await createOrganization({ name: "Acme" });
    const { dashboard, userId, email, sessionId } = await signedIn(org, { role: "member" });
    const reply = await dashboard.get("/session");
    expectEveryHeader(reply);
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({
      user: { id: userId, email, name: null, role: "member" },
      organization: { id: org, name: "Acme", billing: { status: "active", reason: null } },
      session: { id: sessionId, createdAt: timestamp, expiresAt: timestamp },
    });
    const { createdAt, expiresAt } = reply.body.session as { createdAt: string; expiresAt: string };
    const days = (Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000;
    expect(days).toBeGreaterThan(6.99);
    expect(days).toBeLessThanOrEqual(7);
  });

  test.each(["trial_expired", "subscription_inactive", "price_not_recognized", "collection_paused"])(
    "also when the subscription lapsed, with the reason: %s",
    async (status) => {
      const { id: org } = await createOrganization();
      const { dashboard } = await signedIn(org);
      await admin("org billing", { org, status });
      expect(await dashboard.get("/session")).toMatchObject({
        status: 200,
        body: { organization: { billing: { status, reason: status } } },
      });
    },
  );
});

describe("401", () => {
  test("without a session", async () => {
    const reply = await visitor().get("/session");
    expectRefusal(reply, 401, /API key or session/);
  });
});
