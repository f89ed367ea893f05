import { beforeAll, describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { createScanned } from "../service/scanned.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

describe("GET", () => {
  let organization: Organization;
  let user: SignedIn;
  let teamId: number;

  const list = async (query: string) => (await user.dashboard.get(`/emails?${query}`)).body;
  const addresses = async (query: string) =>
    (await user.dashboard.list(`/emails?${query}`)).map(({ email }) => email);

  beforeAll(async () => {
    organization = await createOrganization();
    const { id: org, api, domainId } = organization;
    user = await signedIn(org, { role: "member" });
    teamId = (await admin("team create", { org, name: "Team" })).id;
    const ada = await addEmail(api, domainId, "ada@demo.example");
    await addEmail(api, domainId, "alan@demo.example");
    const grace = await addEmail(api, domainId, "grace@demo.example");
    await user.dashboard.patch(`/emails/${ada}`, { teamId, ownerName: "Ada Lovelace" });
    await user.dashboard.patch(`/emails/${grace}`, { ownerName: "Grace Adele Hopper" });
  });

  test("without q as GET /api/v1/emails with severity, filters and pages included", async () => {
    for (const query of ["", "limit=1&offset=1", `teamId=${teamId}`, "isActive=false"]) {
      const { emails, total } = (await organization.api.get(`/emails?${query}`)).body;
      const inFull = (emails as object[]).map((email) => ({
        ...email,
        severity: null,
        isPrivileged: false,
        hasLeft: false,
      }));
      expect(await list(query)).toEqual({ emails: inFull, total });
      for (const email of emails as object[]) expect(email).not.toHaveProperty("severity");
    }
  });

  test("an e-mail's highest severity among open findings, null without any", async () => {
    const { id: org, api } = await createScanned(["edsger", "nobody"]);
    const viewer = await signedIn(org);
    const shown = () => viewer.dashboard.list("/emails");
    // Worst first.
    const found = await api.list("/breaches?include=details&order=severity&limit=100");
    expect(found.map(({ severity }) => severity)).toEqual(["critical", "high"]);
    for (const { id, severity } of found) {
      expect((await shown()).map((email) => email.severity)).toEqual([null, severity]);
      await api.post("/breaches/acknowledge", { id });
    }
    expect((await shown()).map(({ severity }) => severity)).toEqual([null, null]);
    const reopened = await api.post("/breaches/reopenings", { filter: {} });
    expect(reopened).toMatchObject({ status: 202 });
    await eventually(shown, ([, edsger]) => edsger.severity === found[0].severity);
  });

  // exposure.test.ts has histories, filters and pages.
  test("the most exposed first, with open findings alone, of a team and of q", async () => {
    const { id: org, api, emailIds } = await createScanned(["ada", "edsger", "grace", "nobody"]);
    const viewer = await signedIn(org);
    const { id: team } = (await viewer.dashboard.post("/teams", { name: "One" })).body;
    const [ada, edsger, grace, nobody] = emailIds;
    await viewer.dashboard.post("/emails/changes", { ids: [edsger, nobody], set: { teamId: team } });
    const ids = async (query: string) =>
      (await viewer.dashboard.list(`/emails?${query}`)).map(({ id }) => id);
    const rows = await viewer.dashboard.list("/emails?breached=true");
    const level = (row: (typeof rows)[number]) => ["low", "medium", "high", "critical"].indexOf(row.severity);
    const size = (row: (typeof rows)[number]) => Math.floor(Math.log2(row.unacknowledgedBreachCount));
    const worst = rows
      .toSorted((one, other) => level(other) - level(one) || size(other) - size(one) || other.id - one.id)
      .map(({ id }) => id);
    expect(new Set(worst)).toEqual(new Set([ada, edsger, grace]));
    expect(await ids("order=worst")).toEqual([...worst, nobody]);
    expect(await ids("order=worst&breached=true")).toEqual(worst);
    expect(await ids("order=worst&breached=true&q=demo")).toEqual(worst);
    expect(await ids("breached=false")).toEqual([nobody]);
    expect(await ids(`order=worst&breached=true&teamId=${team}`)).toEqual([edsger]);
    const inV1 = (await api.get(`/emails?order=worst&teamId=${team}`)).body;
    expect(inV1).toMatchObject({ total: 2, emails: [{ id: edsger }, { id: nobody }] });
    const of = await api.list(`/breaches?include=details&limit=100`);
    for (const { id, emailId } of of)
      if (emailId === worst[0]) await api.post("/breaches/acknowledge", { id });
    expect(await ids("order=worst")).toEqual([
      ...worst.slice(1),
      ...[worst[0], nobody].sort((one, other) => Number(other) - Number(one)),
    ]);
  });

  // search.test.ts tests the results.
  test("q finds how addresses and owners' names begin, also filtered and by page", async () => {
    expect(await addresses("q=AD")).toEqual(["grace@demo.example", "ada@demo.example"]);
    expect(await addresses(`q=demo&teamId=${teamId}`)).toEqual(["ada@demo.example"]);
    const page = { emails: [{ email: "alan@demo.example" }], total: 3 };
    expect(await list("q=demo&limit=1&offset=1")).toMatchObject(page);
  });

  // compare.test.ts has sub-addresses: the built-in breaches have none.
  test("GET of one: as it is listed, with its sub-addresses and findings", async () => {
    const { id: org, emailIds } = await createScanned(["ada", "grace"]);
    const [id] = emailIds;
    const { dashboard } = await signedIn(org, { role: "member" });
    const emails = await dashboard.list("/emails");
    const listed = emails.find((email) => email.id === id);
    const findings = await dashboard.list(`/findings?emailId=${id}`);
    expect(findings).toHaveLength(3);
    expect(await dashboard.get(`/emails/${id}`)).toMatchObject({
      status: 200,
      body: { ...listed, subAddresses: [], findings },
    });
  });
});

test("PATCH changes what is named, with one log entry, and none when nothing changes", async () => {
  const { id: org, api, domainId } = await createOrganization();
  const user = await signedIn(org, { role: "member" });
  const id = await addEmail(api, domainId);
  const { id: teamId } = await admin("team create", { org, name: "Team" });
  const assign = (body: object) => user.dashboard.patch(`/emails/${id}`, body);
  const shown = async () => {
    const [email] = await api.list("/emails");
    return { ownerName: email?.ownerName, team: email?.team };
  };
  const inTeam = async () => (await api.get(`/emails?teamId=${teamId}`)).body.total;
  const team = { id: teamId, name: "Team" };
  expect((await assign({ teamId })).body).toEqual({ success: true });
  expect(await shown()).toEqual({ ownerName: null, team });
  expect(await inTeam()).toBe(1);
  for (const ownerName of ["Ada", " Ada "])
    expect((await assign({ ownerName })).body).toEqual({ success: true });
  expect(await shown()).toEqual({ ownerName: "Ada", team });
  for (const ownerName of [" ", null])
    expect(await assign({ teamId: null, ownerName })).toMatchObject({ status: 200 });
  expect(await shown()).toEqual({ ownerName: null, team: null });
  expect(await inTeam()).toBe(0);
  const summary = expect.stringContaining("ada@demo.example");
  const entry = { category: "monitoring", summary, actor: { type: "user", label: user.email } };
  expect(await activity(user.v1, "email.updated")).toMatchObject([entry, entry, entry]);
});

describe("changes of many", () => {
  const create = async (count: number, flags: Record<string, string> = {}) => {
    const organization = await createOrganization(flags);
    const user = await signedIn(organization.id, { role: "member" });
    const file = await writeAddresses(Array.from({ length: count }, (_, at) => `u${at}@demo.example`));
    if (count > 0) await admin("email import", { org: organization.id, file });
    const list = async (query: string) => (await organization.api.get(`/emails?${query}`)).body;
    const idsOf = async (): Promise<number[]> =>
      (await organization.api.list("/emails?limit=100")).map(({ id }) => id);
    const change = (body: unknown) => user.dashboard.post("/emails/changes", body);
    const logged = () => organization.api.list("/activity");
    return { ...organization, user, list, idsOf, change, logged };
  };

  test("team, owner and state of a hundred e-mails, with one log entry", async () => {
    const { id: org, list, idsOf, change, logged, user } = await create(100);
    const { id: teamId } = await admin("team create", { org, name: "Sales" });
    const ids = await idsOf();
    const set = { teamId, ownerName: "Ada Lovelace", isActive: false };
    expect(await change({ ids: [...ids, ...ids], set })).toMatchObject({
      status: 200,
      body: { changed: 100, skipped: 0 },
    });
    expect(await list(`teamId=${teamId}&isActive=false&limit=1`)).toMatchObject({
      total: 100,
      emails: [{ ownerName: "Ada Lovelace", isActive: false }],
    });
    expect((await user.dashboard.get("/emails?q=lovelace")).body.total).toBe(100);
    expect((await change({ ids, set })).body).toEqual({ changed: 0, skipped: 100 });
    const entries = (await logged()).filter(({ action }) => action === "emails.updated");
    expect(entries).toMatchObject([
      { summary: "Changed 100 addresses: disabled, team Sales, another owner" },
    ]);
    expect((await change({ ids, set: { teamId: null, ownerName: null } })).body).toMatchObject({
      changed: 100,
    });
    expect((await user.dashboard.get("/emails?q=lovelace")).body.total).toBe(0);
  });

  test("enables as many as there are seats, on verified domains only", async () => {
    const { id: org, list, idsOf, change, api } = await create(5, { "seat-allowance": "5" });
    const { id: other } = await admin("domain add", { org, name: "other.example", verified: true });
    const ids = await idsOf();
    expect((await change({ ids, set: { isActive: false } })).body).toEqual({ changed: 5, skipped: 0 });
    const blocked = await addEmail(api, other, "a@other.example");
    expect((await change({ ids: [blocked], set: { isActive: false } })).body).toMatchObject({ changed: 1 });
    await admin("domain unverify", { org, domain: other });
    await admin("org billing", { org, status: "active", "seat-allowance": "3" });
    expect((await change({ ids: [blocked, ...ids], set: { isActive: true } })).body).toEqual({
      changed: 3,
      skipped: 3,
    });
    expect(await list("isActive=true")).toMatchObject({ total: 3 });
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });

  // commit.test.ts and changes.test.ts have what many transactions need.
  test("removes e-mails with their findings", async () => {
    const { id: org, list, idsOf, change, api, domainId, logged } = await create(0);
    for (const name of ["ada", "grace"]) await addEmail(api, domainId, `${name}@demo.example`);
    await scan(api);
    expect((await api.get("/breaches")).body.total).toBe(7);
    expect((await change({ ids: await idsOf(), remove: true })).body).toEqual({ changed: 2, skipped: 0 });
    expect((await list("")).total).toBe(0);
    expect((await api.get("/breaches")).body).toMatchObject({ total: 0 });
    expect((await logged())[0]).toMatchObject({ action: "emails.removed", summary: "Removed 2 addresses" });
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
    // The addresses are free again.
    await addEmail(api, domainId, "ada@demo.example");
  });

  test("two requests at once change each e-mail once", async () => {
    const { id: org, idsOf, change } = await create(60);
    const ids = await idsOf();
    const replies = await Promise.all([
      change({ ids, set: { isActive: false } }),
      change({ ids: ids.toReversed(), set: { isActive: false } }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    const changed = replies.map(({ body }) => Number(body.changed));
    expect((changed[0] ?? 0) + (changed[1] ?? 0)).toBe(60);
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });

  test("404 for one unknown id or an unknown team: nothing is changed", async () => {
    const { list, idsOf, change } = await create(3);
    const known = await idsOf();
    const ids = [...known, unknownId];
    expectRefusal(await change({ ids, remove: true }), 404, /monitored email/);
    expectRefusal(await change({ ids, set: { isActive: false } }), 404, /monitored email/);
    expectRefusal(await change({ ids: known, set: { teamId: unknownId } }), 404, /team/i);
    expect(await list("isActive=true")).toMatchObject({ total: 3 });
  });
});
