import { describe, expect, test } from "vitest";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { admin } from "../service/admin.ts";
import type { Client, Reply } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { numberedAddresses } from "./emails.ts";
import { inOneWindow } from "./limit-window.ts";
import { countStatuses, expectEveryHeader, expectRefusal, timestamp } from "./reply.ts";
import { signIn } from "./sign-in.ts";
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
  test("imports what the preview said, with the owners' names, and skips the rest", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const { id: second } = await admin("domain add", { org, name: "two.example", verified: true });
    await api.post("/emails", { email: "alan@demo.example", domainId });
    const file =
      "email,name\nada@demo.example,Ada Lovelace\nalan@demo.example,\nada@demo.example,\nx@other.example,\nmary@two.example,\n";
    const reply = await commit(api, await planOf(api, file));
    expect(reply).toMatchObject({
      status: 200,
      body: { success: true, importedCount: 2, disabledCount: 0, skippedCount: 3 },
    });
    expectEveryHeader(reply);
    const { emails, total } = (await api.get("/emails")).body;
    expect(total).toBe(3);
    expect(emails).toMatchObject([
      {
        email: "mary@two.example",
        ownerName: null,
        isActive: true,
        domain: { id: second, name: "two.example" },
      },
      {
        email: "ada@demo.example",
        ownerName: "Ada Lovelace",
        isActive: true,
        lastScannedAt: null,
        createdAt: timestamp,
        domain: { id: domainId, name: "demo.example" },
        team: null,
        breachCount: 0,
        unacknowledgedBreachCount: 0,
      },
      { email: "alan@demo.example" },
    ]);
  });

  test("imported e-mails are like added ones: scanned, removable, and only once", async () => {
    const { api, domainId } = await createOrganization();
    await commit(api, await planOf(api, "ada@demo.example"));
    expectRefusal(await api.post("/emails", { email: "ADA@demo.example", domainId }), 409, /already/);
    expect(await scan(api)).toMatchObject({ status: "completed", totalEmails: 1, newBreachesFound: 3 });
    const [email] = (await api.get("/emails")).body.emails as { id: number }[];
    expect(email).toMatchObject({ lastScannedAt: timestamp, breachCount: 3 });
    expect((await api.delete(`/emails?id=${email?.id}`)).status).toBe(200);
    expect((await planOf(api, "ada@demo.example")).emails).toMatchObject([{ status: "will_import" }]);
  });

  // Something else may take the machine's time meanwhile.
  test("imports 500 addresses within 10 seconds, with one entry in the activity log", {
    retry: 2,
  }, async () => {
    const organization = await createOrganization();
    const { api, domainId } = organization;
    const { api: user, email: label } = await signIn(organization);
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const plan = await planOf(api, numberedAddresses(500).join("\n"));
    const startedAt = performance.now();
    const reply = await commit(user, plan);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(reply.body).toEqual({ success: true, importedCount: 500, disabledCount: 0, skippedCount: 0 });
    expect(await totals(api)).toEqual({ all: 501, active: 501 });
    expect((await api.get("/activity?limit=2")).body.activity).toMatchObject([
      {
        category: "monitoring",
        action: "emails.imported",
        summary: "Imported 500 addresses",
        actor: { type: "user", label },
      },
      { action: "email.added" },
    ]);
  });

  test("puts e-mails into the teams of their names, and creates those that are missing", async () => {
    const { api } = await createOrganization();
    const rows = numberedAddresses(500).map((email, index) => `${email},Person ${index},Team ${index % 40}`);
    const plan = await planOf(api, ["Email,Name,Team", ...rows].join("\n"));
    expect((await commit(api, plan)).body).toMatchObject({ importedCount: 500 });
    const { emails } = (await api.get("/emails?limit=100")).body as {
      emails: { ownerName: string; team: { name: string } }[];
    };
    for (const { ownerName, team } of emails) {
      expect(team.name).toBe(`Team ${Number(ownerName.slice("Person ".length)) % 40}`);
    }
    const repeated = { ...plan, emails: plan.emails.map((row) => ({ ...row, team: "Other" })) };
    expectRefusal(await commit(api, repeated), 400, /nothing to import/, { code: "nothing_to_import" });
  });

  test("addresses beyond the seat allowance are imported disabled, in file order", async () => {
    const { api, domainId } = await createOrganization({ "seat-allowance": "60" });
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const plan = await planOf(api, numberedAddresses(100).join("\n"));
    expect(plan.quote).toMatchObject({ newActiveCount: 60, newSeatsCount: 60 });
    expect((await commit(api, plan)).body).toEqual({
      success: true,
      importedCount: 100,
      disabledCount: 41,
      skippedCount: 0,
    });
    expect(await totals(api)).toEqual({ all: 101, active: 60 });
    const inactive = (await api.get("/emails?isActive=false&limit=100")).body.emails as { email: string }[];
    expect(inactive.map(({ email }) => email).reverse()).toEqual(numberedAddresses(100).slice(59));
    expect((await api.get("/activity?limit=1")).body.activity).toMatchObject([
      { summary: "Imported 100 addresses, 41 of them disabled beyond the seat allowance" },
    ]);
    expectRefusal(await api.post("/emails", { email: "b@demo.example", domainId }), 400, /allowance/, {
      code: "seat_allowance_reached",
    });
  });

  test("unknown fields are ignored", async () => {
    const { api } = await createOrganization();
    const { emails, quote } = await planOf(api, "ada@demo.example");
    const body = { emails: emails.map((row) => ({ ...row, x: 1 })), quote: { ...quote, y: 2 }, z: 3 };
    expect((await commit(api, body)).status).toBe(200);
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
    const { activity } = (await api.get("/activity")).body as { activity: { action: string }[] };
    expect(activity.filter(({ action }) => action === "emails.imported")).toHaveLength(1);
  });

  test("invalid input names the field, is not counted, and nothing is imported", async () => {
    const { api, domainId } = await createOrganization();
    const { emails, quote } = await planOf(api, "ada@demo.example");
    const row = { email: "ada@demo.example", domainId, status: "will_import" };
    const rows = (changed: object) => ({ emails: [{ ...row, ...changed }], quote });
    const quoted = (changed: object) => ({ emails, quote: { ...quote, ...changed } });
    const wrong: [object, RegExp][] = [
      [{}, /^emails/],
      [{ quote }, /^emails/],
      [{ emails }, /^quote/],
      [{ emails: "x", quote }, /^emails/],
      [{ emails: { 0: row }, quote }, /^emails/],
      [{ emails: ["ada@demo.example"], quote }, /^emails\.0/],
      [{ emails: [null], quote }, /^emails\.0/],
      [{ emails: Array.from({ length: 501 }, () => row), quote }, /^emails/],
      [rows({ email: undefined }), /^emails\.0\.email/],
      [rows({ email: 7 }), /^emails\.0\.email/],
      [rows({ email: "a".repeat(255) }), /^emails\.0\.email/],
      [rows({ email: "a\u0000@demo.example" }), /^emails\.0\.email/],
      [rows({ email: "\ud800@demo.example" }), /^emails\.0\.email/],
      [rows({ domainId: undefined }), /^emails\.0\.domainId/],
      [rows({ domainId: String(domainId) }), /^emails\.0\.domainId/],
      [rows({ domainId: 1.5 }), /^emails\.0\.domainId/],
      [rows({ domainId: -1 }), /^emails\.0\.domainId/],
      [rows({ domainId: 2 ** 53 }), /^emails\.0\.domainId/],
      [rows({ status: "imported" }), /^emails\.0\.status/],
      [rows({ status: undefined }), /^emails\.0\.status/],
      [rows({ status: null }), /^emails\.0\.status/],
      [rows({ ownerName: 7 }), /^emails\.0\.ownerName/],
      [rows({ ownerName: null }), /^emails\.0\.ownerName/],
      [rows({ ownerName: "a".repeat(201) }), /^emails\.0\.ownerName/],
      [rows({ ownerName: "a\nb" }), /^emails\.0\.ownerName/],
      [rows({ team: 7 }), /^emails\.0\.team/],
      [rows({ team: null }), /^emails\.0\.team/],
      [rows({ team: " " }), /^emails\.0\.team/],
      [rows({ team: "a".repeat(101) }), /^emails\.0\.team/],
      [{ emails, quote: null }, /^quote/],
      [{ emails, quote: [] }, /^quote/],
      [quoted({ interval: "week" }), /^quote\.interval/],
      [quoted({ isEstimate: "true" }), /^quote\.isEstimate/],
      [quoted({ newSeatsCount: "1" }), /^quote\.newSeatsCount/],
      [quoted({ newActiveCount: 1.5 }), /^quote\.newActiveCount/],
      [quoted({ estimatedDeltaCents: null }), /^quote\.estimatedDeltaCents/],
      [quoted({ estimatedDeltaCents: undefined }), /^quote\.estimatedDeltaCents/],
    ];
    for (const [body, error] of wrong) expectRefusal(await commit(api, body), 400, error);
    expect(await totals(api)).toEqual({ all: 0, active: 0 });
    // None of these requests counted: together they exceed the 20 of an hour.
    expect((await commit(api, { emails, quote })).status).toBe(200);
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
      await organizations.setBilling(org, changed);
      expectRefusal(await commit(api, plan), 409, /preview the file again/, code);
      await organizations.setBilling(org, billing);
    }
    const plan = await planOf(api, file);
    await api.post("/emails", { email: "other@demo.example", domainId });
    expectRefusal(await commit(api, plan), 409, /preview the file again/, code);
    expect(await totals(api)).toEqual({ all: 1, active: 1 });
    expect((await commit(api, await planOf(api, file))).body).toMatchObject({ importedCount: 3 });
  });

  test("when rows differ from what a fresh preview of the same addresses gives", async () => {
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
    await admin("domain unverify", { org, domain: second });
    expectRefusal(await commit(api, plan), 409, /preview/, code);
    expect(await totals(api)).toEqual({ all: 0, active: 0 });
  });

  test("for any other quote than the server's own", async () => {
    const { api } = await createOrganization();
    const { emails, quote } = await planOf(api, numberedAddresses(2).join(" "));
    for (const changed of [
      { interval: "year" },
      { isEstimate: false },
      { newSeatsCount: 1 },
      { newActiveCount: 0 },
      { estimatedDeltaCents: 0 },
      { estimatedDeltaCents: -100 },
    ]) {
      expectRefusal(await commit(api, { emails, quote: { ...quote, ...changed } }), 409, /preview/, code);
    }
  });

  test("when a part is imported already, such as by a commit that was cut off", async () => {
    const { api } = await createOrganization();
    const plan = await planOf(api, numberedAddresses(3).join("\n"));
    await commit(api, await planOf(api, numberedAddresses(2).join("\n")));
    expectRefusal(await commit(api, plan), 409, /preview/, code);
    expect((await commit(api, await planOf(api, numberedAddresses(3).join("\n")))).body).toEqual({
      success: true,
      importedCount: 1,
      disabledCount: 0,
      skippedCount: 2,
    });
  });
});

describe("at the same instant", () => {
  test("of equal commits every address is imported once, and the allowance holds exactly", async () => {
    const { api } = await createOrganization({ "seat-allowance": "70" });
    const plan = await planOf(api, numberedAddresses(120).join("\n"));
    const replies = await Promise.all(Array.from({ length: 4 }, () => commit(api, plan)));
    const done = replies.filter(({ status }) => status === 200).map(({ body }) => body);
    const refused = replies.filter(({ status }) => status !== 200);
    for (const { status } of refused) expect([400, 409]).toContain(status);
    const sum = (field: string) => done.reduce((total, body) => total + Number(body[field]), 0);
    expect([sum("importedCount"), sum("disabledCount")]).toEqual([120, 50]);
    for (const body of done) expect(Number(body.importedCount) + Number(body.skippedCount)).toBe(120);
    expect(await totals(api)).toEqual({ all: 120, active: 70 });
  });
});

describe("429", () => {
  test("20 an hour pass; refused input does not count, nor do previews", () =>
    inOneWindow(3600, async () => {
      const { api } = await createOrganization();
      const plan = await planOf(api, "x@other.example");
      await Promise.all(Array.from({ length: 5 }, () => commit(api, {})));
      const replies = await Promise.all(Array.from({ length: 24 }, () => commit(api, plan)));
      expect(countStatuses(replies)).toEqual({ 400: 20, 429: 4 });
      const [limited] = replies.filter(({ status }) => status === 429);
      expectRefusal(limited as Reply, 429, /hourly limit/);
      expect(limited?.headers["retry-after"]).toMatch(/^[1-9]\d*$/);
      expectRefusal(await commit(api, {}), 400, /^emails/);
      expect((await preview(api, "x@other.example")).status).toBe(200);
    }));
});
