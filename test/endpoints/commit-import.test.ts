import { describe, expect, test } from "vitest";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import type { Client, Reply } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { numberedAddresses } from "./emails.ts";
import { expectRefusal } from "./reply.ts";
import { preview } from "./upload.ts";

type Plan = { emails: Record<string, unknown>[]; quote: Record<string, unknown> };

const planOf = async (api: Client, file: string): Promise<Plan> => {
  const { status, body } = await preview(api, file);
  if (status !== 200) throw new Error(`No preview: ${JSON.stringify(body)}`);
  return body as Plan;
};

const commit = (api: Client, plan: unknown): Promise<Reply> => api.post("/emails/import/commit", plan);

const totals = async (api: Client): Promise<{ all: unknown; active: unknown }> => ({
  all: (await api.get("/emails")).body.total,
  active: (await api.get("/emails?isActive=true")).body.total,
});

describe("200", () => {
  test("imports what the preview said, with owners and teams, and is logged once", async () => {
    const organization = await createOrganization();
    const { id: org, api, domainId } = organization;
    const { id: second } = await admin("domain add", { org, name: "two.example", verified: true });
    const { v1: user, email: label } = await signedIn(org);
    await api.post("/emails", { email: "alan@demo.example", domainId });
    const rows = ["ada@demo.example,Ada Lovelace,Sales", "alan@demo.example,,", "ada@demo.example,,"];
    const plan = await planOf(
      api,
      ["email,name,team", ...rows, "x@other.example,,", "m@two.example,,"].join("\n"),
    );
    // Unknown fields are ignored.
    const emails = plan.emails.map((row) => ({ ...row, x: 1 }));
    const reply = await commit(user, { emails, quote: { ...plan.quote, y: 2 }, z: 3 });
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({ success: true, importedCount: 2, disabledCount: 0, skippedCount: 3 });
    const team = { id: expect.any(Number), name: "Sales" };
    expect((await api.get("/emails")).body).toMatchObject({
      total: 3,
      emails: [
        { email: "m@two.example", ownerName: null, isActive: true, team: null, domain: { id: second } },
        { email: "ada@demo.example", ownerName: "Ada Lovelace", lastScannedAt: null, breachCount: 0, team },
        { email: "alan@demo.example" },
      ],
    });
    const actor = { type: "user", label };
    const summary = "Imported 2 addresses";
    expect((await api.get("/activity?category=monitoring")).body.activity).toMatchObject([
      { action: "emails.imported", summary, actor },
      { action: "email.added" },
    ]);
  });

  test("addresses beyond the seat allowance are imported disabled, in file order", async () => {
    const { api, domainId } = await createOrganization({ "seat-allowance": "6" });
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const plan = await planOf(api, numberedAddresses(10).join("\n"));
    expect(plan.quote).toMatchObject({ newActiveCount: 6, newSeatsCount: 6 });
    expect((await commit(api, plan)).body).toMatchObject({ importedCount: 10, disabledCount: 5 });
    expect(await totals(api)).toEqual({ all: 11, active: 6 });
    const inactive = await api.list("/emails?isActive=false");
    expect(inactive.map(({ email }) => email).reverse()).toEqual(numberedAddresses(10).slice(5));
    expect((await api.get("/activity?limit=1")).body.activity).toMatchObject([
      { summary: "Imported 10 addresses, 5 of them disabled beyond the seat allowance" },
    ]);
  });
});

describe("400", () => {
  test("nothing_to_import: no row is new, such as in a repeated or an empty commit", async () => {
    const { api } = await createOrganization();
    const code = { code: "nothing_to_import" };
    const invalid = await planOf(api, "x@other.example x@other.example ada@");
    expectRefusal(await commit(api, invalid), 400, /nothing to import/, code);
    const plan = await planOf(api, "ada@demo.example\nada@demo.example\nx@other.example");
    expect((await commit(api, plan)).status).toBe(200);
    expectRefusal(await commit(api, plan), 400, /nothing to import/, code);
    expectRefusal(await commit(api, await planOf(api, "ada@demo.example")), 400, /nothing to import/, code);
    expectRefusal(await commit(api, { ...plan, emails: [] }), 400, /nothing to import/, code);
    const activity = await api.list("/activity");
    expect(activity.filter(({ action }) => action === "emails.imported")).toHaveLength(1);
  });
});

describe("409 quote_mismatch", () => {
  const code = { code: "quote_mismatch" };

  test("when billing has changed; a fresh preview can be committed", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const { billing } = await organizations.existing(org);
    const file = numberedAddresses(3).join("\n");
    for (const changed of [
      { ...billing, seatPriceCents: billing.seatPriceCents + 1 },
      { ...billing, interval: "year" as const },
      { ...billing, seatAllowance: 2 },
    ]) {
      const plan = await planOf(api, file);
      await organizations.set(org, { billing: changed });
      expectRefusal(await commit(api, plan), 409, /preview the file again/, code);
      await organizations.set(org, { billing });
    }
    const plan = await planOf(api, file);
    await api.post("/emails", { email: "other@demo.example", domainId });
    expectRefusal(await commit(api, plan), 409, /preview the file again/, code);
    expect(await totals(api)).toEqual({ all: 1, active: 1 });
    expect((await commit(api, await planOf(api, file))).body).toMatchObject({ importedCount: 3 });
  });

  test("when rows or quote differ from a fresh preview's", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const { id: second } = await admin("domain add", { org, name: "two.example", verified: true });
    const plan = await planOf(api, "ada@demo.example\nx@other.example\nmary@two.example");
    const [ada, other, mary] = plan.emails;
    const changed = [
      [{ ...ada, status: "invalid" }, other, mary],
      [ada, { ...other, domainId, status: "will_import" }, mary],
      [ada, other, { ...mary, domainId }],
      [{ ...ada, domainId: null }, other, mary],
      [{ ...ada, email: "ADA@demo.example" }, other, mary],
      [{ ...ada, email: " ada@demo.example" }, other, mary],
      [ada, other, mary, ada],
      [ada, other],
    ];
    for (const emails of changed) {
      expectRefusal(await commit(api, { ...plan, emails }), 409, /preview/, code);
    }
    for (const quote of [
      { interval: "year" },
      { isEstimate: false },
      { newSeatsCount: 9 },
      { newActiveCount: 0 },
    ])
      expectRefusal(await commit(api, { ...plan, quote: { ...plan.quote, ...quote } }), 409, /preview/, code);
    await admin("domain unverify", { org, domain: second });
    expectRefusal(await commit(api, plan), 409, /preview/, code);
    expect(await totals(api)).toEqual({ all: 0, active: 0 });
  });
});
