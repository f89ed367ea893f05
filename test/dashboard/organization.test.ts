import { expect, test } from "vitest";
import { timestamp } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { signedIn } from "./signed-in.ts";

test("GET shows the organization with its billing, to members too", async () => {
  const { id: org, ...organization } = await createOrganization({
    "seat-price-cents": "250",
    interval: "year",
  });
  const { dashboard } = await signedIn(org, { role: "member" });
  const { domainId, domain, api } = organization;
  await api.post("/emails", { email: `ada@${domain}`, domainId });
  const reply = await dashboard.get("/organization");
  expect(reply).toMatchObject({
    status: 200,
    body: {
      id: org,
      name: "Test",
      scanEvery: "never",
      nextScanAt: null,
      timeZone: "UTC",
      billing: {
        status: "active",
        reason: null,
        trialEndsAt: null,
        interval: "year",
        seatPriceCents: 250,
        seatAllowance: null,
        activeCount: 1,
      },
    },
  });
});

test("PATCH changes name and how often is scanned, in the log once; GET says when next", async () => {
  const { dashboard, v1, email } = await signedIn((await createOrganization()).id);
  const change = (body: object) => dashboard.patch("/organization", body);
  const show = async () => (await dashboard.get("/organization")).body;
  const input = { name: "Größe & Söhne", scanEvery: "week" };
  expect(await change(input)).toMatchObject({ status: 200, body: { success: true } });
  const { nextScanAt } = await show();
  expect(await show()).toMatchObject({ ...input, nextScanAt: timestamp });
  expect((await change(input)).body).toEqual({ success: true });
  expect((await show()).nextScanAt).toBe(nextScanAt);
  expect(await activity(v1, "organization.updated")).toMatchObject([
    { category: "monitoring", actor: { type: "user", label: email } },
  ]);
  for (const [scanEvery, days] of [
    ["week", 7],
    ["day", 1],
  ] as const) {
    await change({ scanEvery });
    const wait = Date.parse(String((await show()).nextScanAt)) - Date.now();
    expect(wait).toBeGreaterThan(-60_000);
    expect(wait).toBeLessThanOrEqual(days * 86_400_000 + 1_000);
  }
});

test("PATCH sets the time zone, in the log, and refuses what is none", async () => {
  const { dashboard, v1 } = await signedIn((await createOrganization()).id);
  expect(await dashboard.patch("/organization", { timeZone: "Europe/Berlin" })).toMatchObject({
    status: 200,
  });
  expect((await dashboard.get("/organization")).body).toMatchObject({
    timeZone: "Europe/Berlin",
    name: "Test",
  });
  expect(await activity(v1, "organization.updated")).toMatchObject([
    { summary: "Set the time zone of the organization to Europe/Berlin" },
  ]);
  for (const timeZone of ["Europe/Nowhere", "+02:00", "", 1, "x".repeat(200)])
    expect((await dashboard.patch("/organization", { timeZone })).status).toBe(400);
});
