import { describe, expect, test } from "vitest";
import type { Billing } from "../../shared/access/billing/billing-schema.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { requestEveryEndpoint } from "./every-endpoint.ts";
import { expectRefusal } from "./reply.ts";

const lastYear = "2025-01-01T00:00:00Z";
const fourteenDays = 14 * 24 * 3_600_000;

describe("402", () => {
  test("with the reason on every endpoint; it loses nothing and uses up no limit", async () => {
    const { id: org, api, domainId } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const reasons = ["trial_expired", "subscription_inactive", "price_not_recognized", "collection_paused"];
    for (const reason of reasons) {
      await admin("org billing", { org, status: reason });
      const replies = await Promise.all([1, 2, 3].map(() => api.post("/scans")));
      if (reason === "trial_expired") replies.push(...(await requestEveryEndpoint(api)));
      for (const reply of replies) expectRefusal(reply, 402, /./, { reason });
    }
    await admin("org billing", { org, status: "active" });
    expect((await api.get("/emails")).body).toMatchObject({ total: 1, emails: [{ isActive: true }] });
    expect((await api.get("/scans")).body.total).toBe(0);
    expect((await api.post("/scans")).status).toBe(201);
  });

  test("trial_expired from the end of a trial on, in whichever time zone it is given", async () => {
    const zoned = (milliseconds: number) =>
      new Date(Date.now() + milliseconds + 10 * 3_600_000).toISOString().replace("Z", "+10:00");
    const { id: org, api } = await createOrganization({
      billing: "trialing",
      "trial-ends": zoned(3_600_000),
    });
    expect((await api.get("/emails")).status).toBe(200);
    await admin("org billing", { org, status: "trialing", "trial-ends": zoned(-3_600_000) });
    expectRefusal(await api.get("/emails"), 402, /trial has expired/, { reason: "trial_expired" });
    await admin("org billing", { org, status: "trialing", "trial-ends": zoned(3_600_000) });
    expect((await api.get("/emails")).status).toBe(200);
  });

  test.each([
    ["a status that is none", { status: "paused" }],
    ["no status", { status: null }],
    ["a trial without an end", { status: "trialing", trialEndsAt: null }],
  ])("subscription_inactive if the organization's row is damaged: %s", async (_, wrong) => {
    const { id: org, api } = await createOrganization();
    expect((await api.get("/emails")).status).toBe(200);
    const billing = Object.entries(wrong).map(([name, value]) => [`billing.${name}`, value]);
    await table.update(keys.organization(org), { set: Object.fromEntries(billing) });
    expectRefusal(await api.get("/emails"), 402, /subscription/, { reason: "subscription_inactive" });
  });
});

test("200: active and past_due organizations, and trials, are served", async () => {
  const ended = { billing: "active", "trial-ends": lastYear };
  for (const flags of [{ billing: "trialing" }, { billing: "past_due" }, ended]) {
    const { api } = await createOrganization(flags);
    expect([flags, (await api.get("/emails")).status]).toEqual([flags, 200]);
  }
});

describe("a trial", () => {
  const billingOf = async (org: number) => (await admin("org show", { org })).billing as Billing;
  test("ends after 14 days unless another end is given, up to a new trial", async () => {
    const { id: org, api } = await createOrganization();
    const before = Date.now();
    await admin("org billing", { org, status: "trialing" });
    const { trialEndsAt } = await billingOf(org);
    const end = Date.parse(String(trialEndsAt));
    expect(end).toBeGreaterThanOrEqual(before + fourteenDays);
    expect(end).toBeLessThanOrEqual(Date.now() + fourteenDays);
    for (const status of ["trialing", "past_due", "trialing"]) {
      await admin("org billing", { org, status });
      expect((await billingOf(org)).trialEndsAt).toBe(trialEndsAt);
    }
    await admin("org billing", { org, status: "trialing", "trial-ends": lastYear });
    await admin("org billing", { org, status: "trialing" });
    expectRefusal(await api.get("/emails"), 402, /trial has expired/, { reason: "trial_expired" });
    await admin("org billing", { org, status: "trial_expired" });
    await admin("org billing", { org, status: "trialing" });
    expect((await api.get("/emails")).status).toBe(200);
  });

  test("has 25 seats unless others are given, and they end with the trial", async () => {
    const { id: org } = await createOrganization({ "seat-allowance": "40" });
    for (const [status, given, expected] of [
      // An allowance that is given outlasts changes of the status, unless it was a trial's.
      ["past_due", undefined, 40],
      ["active", "50", 50],
      ["trialing", "5", 5],
      ["active", undefined, null],
      ["trialing", undefined, 25],
      ["trialing", "60", 60],
      ["trialing", undefined, 60],
      ["trial_expired", undefined, null],
      ["trialing", "none", null],
      ["active", "70", 70],
      ["active", "none", null],
    ] as const) {
      await admin("org billing", { org, status, ...(given && { "seat-allowance": given }) });
      expect([status, given, (await billingOf(org)).seatAllowance]).toEqual([status, given, expected]);
    }
    for (const wrong of ["", "-1", "all", "1.5"]) {
      const changing = admin("org billing", { org, status: "active", "seat-allowance": wrong });
      await expect(changing).rejects.toThrow("--seat-allowance");
    }
  });
});
