import { beforeAll, describe, expect, test } from "vitest";
import { expectEveryHeader, timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let member: SignedIn;
beforeAll(async () => {
  organization = await createOrganization({ "seat-price-cents": "250", interval: "year" });
  member = await signedIn(organization.id, { role: "member" });
});

describe("200", () => {
  test("shows the organization with its billing", async () => {
    const { id: org, domainId, domain, api } = organization;
    await api.post("/emails", { email: `ada@${domain}`, domainId });
    const reply = await member.dashboard.get("/organization");
    expectEveryHeader(reply);
    expect(reply).toMatchObject({
      status: 200,
      body: {
        id: org,
        name: "Test",
        scanEvery: "never",
        nextScanAt: null,
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

  test.each([
    ["day", 1],
    ["week", 7],
  ])("says when an organization that is scanned every %s is scanned next", async (every, days) => {
    await admin("scan schedule", { org: organization.id, every });
    const { body } = await member.dashboard.get("/organization");
    expect(body).toMatchObject({ scanEvery: every, nextScanAt: timestamp });
    const wait = Date.parse(body.nextScanAt as string) - Date.now();
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(days * 24 * 60 * 60 * 1_000 + 1_000);
  });
});
