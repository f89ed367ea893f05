import { describe, expect, test } from "vitest";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { countStatuses, expectRefusal, timestamp } from "./reply.ts";

describe("201", () => {
  test("lists it at once, trimmed, in lower case, active and not scanned yet", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const { id: teamId } = await admin("team create", { org, name: "Sales" });
    const ownerName = `Ada "Countess" Lovelace <&> 👩‍💻${"x".repeat(160)}`;
    const email = "  Ada.LOVELACE+x@DEMO.example ";
    const unknown = { id: 7, isActive: false, breachCount: 3, organizationId: 1, pk: "x", constructor: 1 };
    const added = await api.post("/emails", { email, domainId, teamId, ownerName, ...unknown });
    expect(added).toMatchObject({ status: 201, body: { success: true, id: expect.any(Number) } });
    expect((await api.get("/emails")).body).toEqual({
      total: 1,
      emails: [
        {
          id: added.body.id,
          email: "ada.lovelace+x@demo.example",
          ownerName,
          isActive: true,
          lastScannedAt: null,
          createdAt: timestamp,
          domain: { id: domainId, name: "demo.example" },
          team: { id: teamId, name: "Sales" },
          breachCount: 0,
          unacknowledgedBreachCount: 0,
        },
      ],
    });
    const longest = `${"a".repeat(254 - "@demo.example".length)}@demo.example`;
    expect((await api.post("/emails", { email: longest, domainId })).status).toBe(201);
  });
});

describe("400", () => {
  test("an address whose domain part is not the named domain", async () => {
    const { api, domainId } = await createOrganization();
    const others = ["ada@other.example", "ada@sub.demo.example", "ada@emo.example", "ada@demo.example.com"];
    const replies = await Promise.all(others.map((email) => api.post("/emails", { email, domainId })));
    for (const reply of replies) expectRefusal(reply, 400, /^email: is not an address of the named domain$/);
    expect((await api.get("/emails")).body.total).toBe(0);
  });

  test("a domain of the organization that is not verified, or no longer", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const { id: pending } = await admin("domain add", { org, name: "pending.example" });
    const refused = await api.post("/emails", { email: "ada@pending.example", domainId: pending });
    expectRefusal(refused, 400, /domain is not verified/);
    await admin("domain unverify", { org, domain: domainId });
    const later = await api.post("/emails", { email: "ada@demo.example", domainId });
    expectRefusal(later, 400, /domain is not verified/);
    expect((await api.get("/emails")).body.total).toBe(0);
  });

  test("an address beyond the seat allowance, with code seat_allowance_reached", async () => {
    const { api, domainId } = await createOrganization({ "seat-allowance": "1" });
    const first = await api.post("/emails", { email: "ada@demo.example", domainId });
    const refused = await api.post("/emails", { email: "alan@demo.example", domainId });
    expectRefusal(refused, 400, /seat allowance/, { code: "seat_allowance_reached" });
    await api.patch(`/emails/${first.body.id}`, { isActive: false });
    expect((await api.post("/emails", { email: "alan@demo.example", domainId })).status).toBe(201);
    expect((await api.get("/emails")).body.total).toBe(2);
  });
});

describe("409", () => {
  test("an address that is monitored already, in any spelling and while disabled", async () => {
    const { api, domainId } = await createOrganization();
    const { id } = (await api.post("/emails", { email: "ada@demo.example", domainId })).body;
    for (const email of ["ada@demo.example", "ADA@Demo.Example", " ada@demo.example\t"]) {
      expectRefusal(await api.post("/emails", { email, domainId }), 409, /already monitored/);
    }
    await api.patch(`/emails/${id}`, { isActive: false });
    const again = await api.post("/emails", { email: "ada@demo.example", domainId });
    expectRefusal(again, 409, /already monitored/);
    expect((await api.get("/emails")).body.total).toBe(1);
  });

  test("of simultaneous adds of one address exactly one succeeds and takes one seat", async () => {
    const { api, domainId } = await createOrganization({ "seat-allowance": "3" });
    const spellings = ["ada@demo.example", "Ada@demo.example", "ADA@DEMO.EXAMPLE", " ada@demo.example "];
    const replies = await Promise.all(spellings.map((email) => api.post("/emails", { email, domainId })));
    expect(countStatuses(replies)).toEqual({ 201: 1, 409: 3 });
    expect((await api.get("/activity?category=monitoring")).body.total).toBe(1);
    const [added] = replies.filter(({ status }) => status === 201);
    expect((await api.get("/emails")).body).toMatchObject({ total: 1, emails: [{ id: added?.body.id }] });
    const more = await Promise.all(
      ["b", "c", "d"].map((name) => api.post("/emails", { email: `${name}@demo.example`, domainId })),
    );
    expect(countStatuses(more)).toEqual({ 201: 2, 400: 1 });
  });
});
