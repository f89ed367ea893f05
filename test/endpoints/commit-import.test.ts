import { describe, expect, test } from "vitest";
import { commitImport } from "../../functions/commit-import/endpoint.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import type { Client, Reply } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { numberedAddresses } from "./emails.ts";
import { expectInvalid } from "./invalid.ts";
import { inOneWindow, presetCount, subjects } from "./limit-window.ts";
import { countStatuses, expectRefusal } from "./reply.ts";
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

  const row = { email: "ada@demo.example", domainId: 1, status: "will_import" };
  const quote = {
    interval: "month",
    isEstimate: true,
    newSeatsCount: 1,
    newActiveCount: 1,
    estimatedDeltaCents: 0,
  };
  test.each<[field: string, values: unknown[]]>([
    ["emails", [undefined, "x", { 0: row }, Array(501).fill(row)]],
    ["emails.0", ["ada@demo.example", null]],
    ["emails.0.email", [undefined, 7, "a".repeat(255), "a\u0000@demo.example", "\ud800@demo.example"]],
    ["emails.0.domainId", [undefined, "1", 1.5, -1, 2 ** 53]],
    ["emails.0.status", [undefined, "imported", null]],
    ["emails.0.ownerName", [7, null, "a".repeat(201), "a\nb"]],
    ["emails.0.team", [7, null, " ", "a".repeat(101)]],
    ["quote", [undefined, null, []]],
    ["quote.interval", ["week"]],
    ["quote.isEstimate", ["true"]],
    ["quote.newSeatsCount", ["1"]],
    ["quote.newActiveCount", [1.5]],
    ["quote.estimatedDeltaCents", [null, undefined]],
  ])("%s that is not valid; the error names it", async (field, values) => {
    for (const value of values) {
      const body = structuredClone<Record<string, unknown>>({ emails: [row], quote });
      const names = field.split(".");
      const last = names.pop() ?? "";
      let parent = body;
      for (const name of names) parent = parent[name] as Record<string, unknown>;
      parent[last] = value;
      await expectInvalid(commitImport, { body }, RegExp(`^${field.replaceAll(".", "\\.")}`));
    }
  });
});

describe("409 quote_mismatch", () => {
  const code = { code: "quote_mismatch" };

  test("when billing state changed since the preview; a fresh preview can be committed", async () => {
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

  test("when rows or quote differ from what a fresh preview of the same addresses gives", async () => {
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

test("429: 20 an hour pass; refused input does not count, nor do previews", () =>
  inOneWindow(3600, async () => {
    const { id: org, api } = await createOrganization();
    const plan = await planOf(api, "x@other.example");
    await presetCount(subjects.organization(org, "importCommits"), 18, 3600);
    expectRefusal(await commit(api, {}), 400, /^emails/);
    const replies = await Promise.all(Array.from({ length: 4 }, () => commit(api, plan)));
    expect(countStatuses(replies)).toEqual({ 400: 2, 429: 2 });
    const limited = await commit(api, plan);
    expectRefusal(limited, 429, /hourly limit/);
    expect(limited.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    expect((await preview(api, "x@other.example")).status).toBe(200);
  }));
