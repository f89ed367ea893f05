import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createScanned, type Scanned } from "../service/scanned.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Scanned;
let ada: SignedIn;
let other: SignedIn;

beforeAll(async () => {
  const stranger = createScanned(["ada"]);
  organization = await createScanned(["ada", "grace"]);
  ada = await signedIn(organization.id, { role: "member" });
  other = await signedIn((await stranger).id);
});

const record = (body: object, by = ada) => by.dashboard.post("/exports", body);
const last = async (action: string) => (await activity(ada.v1, action))[0];

describe("201: the log entry", () => {
  test("says which findings the file has, and how many", async () => {
    const filter = { acknowledged: false, severity: ["critical", "high"], told: false };
    const reply = await record({ list: "findings", filter, rows: 12 });
    expect(reply).toMatchObject({ status: 201, body: { success: true } });
    const entry = {
      category: "findings",
      summary: "Exported 12 findings (severity critical or high, open, owner not told) as CSV",
      actor: { type: "user", label: ada.email },
    };
    expect(await last("findings.exported")).toMatchObject(entry);
    const from = new Date(Date.now() - 60_000).toISOString();
    const found = await ada.v1.get(`/activity?q=exported&actor=${ada.userId}&from=${from}&category=findings`);
    expect(found.body).toMatchObject({ total: 1, activity: [entry] });
    await record({ list: "findings", filter: {}, rows: 1 });
    expect(await last("findings.exported")).toMatchObject({ summary: "Exported 1 finding as CSV" });
    expect(await activity(other.v1, "findings.exported")).toEqual([]);
  });

  test("names a filter's ids, and nothing of another organization", async () => {
    const [finding] = await other.dashboard.list("/findings");
    const filter = { emailId: Number(finding?.emailId), domainId: organization.domainId };
    await record({ list: "findings", filter, rows: 0 });
    expect(await last("findings.exported")).toMatchObject({
      summary: `Exported 0 findings (domain ${organization.domain}, e-mail ${filter.emailId}) as CSV`,
    });
  });

  test("says which e-mails the file has", async () => {
    const { domainId, domain } = organization;
    const filter = { q: "ada", domainId, teamId: 999, isActive: true, breached: false };
    await record({ list: "emails", filter, rows: 3 });
    expect(await last("emails.exported")).toMatchObject({
      category: "monitoring",
      summary:
        `Exported 3 e-mails (domain ${domain}, team 999, enabled, without open findings, ` +
        'found by "ada") as CSV',
    });
  });

  test("says which activity the file has", async () => {
    const filter = {
      category: "teams",
      actor: String(ada.userId),
      from: "2026-11-01T00:00:00Z",
      to: "2026-12-01T00:00:00+01:00",
      q: "added",
    };
    await record({ list: "activity", filter, rows: 2 });
    expect(await last("activity.exported")).toMatchObject({
      category: "teams",
      summary:
        `Exported 2 entries of the activity log (category teams, by ${ada.email}, ` +
        'since 2026-11-01T00:00:00.000Z, before 2026-11-30T23:00:00.000Z, with the text "added") as CSV',
      actor: { type: "user", label: ada.email },
    });
    for (const [actor, words] of [
      ["api_key", "api_key"],
      [String(other.userId), `user ${other.userId}`],
    ]) {
      await record({ list: "activity", filter: { actor }, rows: 1 });
      expect(await last("activity.exported")).toMatchObject({
        summary: `Exported 1 entry of the activity log (by ${words}) as CSV`,
      });
    }
  });
});

test("401 and 400: what is refused is not logged", async () => {
  const body = { list: "findings", filter: {}, rows: 1 };
  const gone = await signedIn(organization.id, { role: "member" });
  const before = await activity(ada.v1, "findings.exported");
  await admin("user remove", { org: organization.id, user: gone.userId });
  expectRefusal(await record(body, gone), 401, /session/);
  expectRefusal(await record({ ...body, filter: { state: "open" } }), 400, /state/);
  expect(await activity(ada.v1, "findings.exported")).toHaveLength(before.length);
});
