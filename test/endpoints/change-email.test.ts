import { describe, expect, test } from "vitest";
import { admin } from "../service/admin.ts";
import type { Client } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { createScanned } from "../service/scanned.ts";
import { addEmail } from "./emails.ts";
import { expectRefusal } from "./reply.ts";

const only = async (api: Client) => {
  const emails = await api.list("/emails");
  expect(emails).toHaveLength(1);
  return emails[0];
};

describe("200", () => {
  test("disabling keeps the history: findings, counts and the last check", async () => {
    const { api, emailIds } = await createScanned();
    const [id] = emailIds;
    const before = await only(api);
    const findings = (await api.get("/breaches")).body;
    expect(findings.total).toBe(3);
    const reply = await api.patch(`/emails/${id}`, { isActive: false });
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    expect(await only(api)).toEqual({ ...before, isActive: false });
    expect((await api.get("/breaches")).body).toEqual(findings);
  });

  test("a disabled e-mail is not scanned; once enabled it is scanned again", async () => {
    const { api, domainId } = await createOrganization();
    const [id] = await Promise.all([addEmail(api, domainId), addEmail(api, domainId, "alan@demo.example")]);
    await api.patch(`/emails/${id}`, { isActive: false });
    expect(await scan(api)).toMatchObject({ totalEmails: 1, scannedEmails: 1, newBreachesFound: 1 });
    await api.patch(`/emails/${id}`, { isActive: true });
    const emails = await api.list("/emails");
    expect(emails.find((email) => email.id === id)).toMatchObject({ lastScannedAt: null, breachCount: 0 });
    expect(await scan(api)).toMatchObject({ totalEmails: 2, scannedEmails: 2, newBreachesFound: 3 });
  });

  test("a change to the current state succeeds, and moves no total", async () => {
    const { api, domainId } = await createOrganization({ "seat-allowance": "1" });
    const id = await addEmail(api, domainId);
    for (const isActive of [true, false, false, false, true, true]) {
      expect((await api.patch(`/emails/${id}`, { isActive })).status).toBe(200);
    }
    const totals = await Promise.all(
      ["true", "false"].map(async (isActive) => (await api.get(`/emails?isActive=${isActive}`)).body.total),
    );
    expect(totals).toEqual([1, 0]);
    // The only seat is taken: disabling twice did not free it twice.
    expect((await api.post("/emails", { email: "alan@demo.example", domainId })).status).toBe(400);
  });
});

describe("400", () => {
  test("enabling while the domain is no longer verified; it stays disabled", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const id = await addEmail(api, domainId);
    await admin("domain unverify", { org, domain: domainId });
    expect((await api.patch(`/emails/${id}`, { isActive: false })).status).toBe(200);
    expectRefusal(await api.patch(`/emails/${id}`, { isActive: true }), 400, /domain is not verified/);
    expect(await only(api)).toMatchObject({ isActive: false });
    await admin("domain verify", { org, domain: domainId });
    expect((await api.patch(`/emails/${id}`, { isActive: true })).status).toBe(200);
  });

  test("enabling beyond the seat allowance, with code seat_allowance_reached", async () => {
    const { api, domainId } = await createOrganization({ "seat-allowance": "1" });
    const id = await addEmail(api, domainId);
    await api.patch(`/emails/${id}`, { isActive: false });
    await addEmail(api, domainId, "alan@demo.example");
    const refused = await api.patch(`/emails/${id}`, { isActive: true });
    expectRefusal(refused, 400, /seat allowance/, { code: "seat_allowance_reached" });
    expect((await api.get("/emails?isActive=true")).body.total).toBe(1);
  });
});
