import { beforeAll, describe, expect, test } from "vitest";
import { addEmail } from "../endpoints/emails.ts";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { writeAddresses } from "../service/addresses-file.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

type Email = { id: number; email: string; isActive: boolean; team: unknown; ownerName: string | null };

const create = async (count: number, flags: Record<string, string> = {}) => {
  const organization = await createOrganization(flags);
  const user = await signedIn(organization.id, { role: "member" });
  const file = await writeAddresses(Array.from({ length: count }, (_, at) => `u${at}@demo.example`));
  if (count > 0) await admin("email import", { org: organization.id, file });
  const list = async (query = "limit=100") =>
    (await organization.api.get(`/emails?${query}`)).body as unknown as { emails: Email[]; total: number };
  const change = (body: unknown) => user.dashboard.post("/emails/changes", body);
  const logged = async () =>
    (await organization.api.get("/activity")).body.activity as { action: string; summary: string }[];
  const seats = async () => (await admin("org show", { org: organization.id })).activeEmails;
  return { ...organization, user, list, change, logged, seats };
};
const idsOf = ({ emails }: { emails: Email[] }): number[] => emails.map(({ id }) => id);

describe("200", () => {
  test("team, owner and state of a hundred e-mails, with one log entry", async () => {
    const { id: org, list, change, logged, user } = await create(100);
    const { id: teamId } = await admin("team create", { org, name: "Sales" });
    const ids = idsOf(await list());
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
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });

  test("enables as many as there are seats, and none of a domain that is not verified", async () => {
    const { id: org, list, change, api } = await create(5, { "seat-allowance": "5" });
    const { id: other } = await admin("domain add", { org, name: "other.example", verified: true });
    const ids = idsOf(await list());
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

  test("removes e-mails with their findings", async () => {
    const { id: org, list, change, api, domainId, logged } = await create(60);
    for (const name of ["ada", "alan", "grace"]) await addEmail(api, domainId, `${name}@demo.example`);
    await scan(api);
    expect((await api.get("/breaches")).body.total).toBeGreaterThan(3);
    const ids = idsOf(await list());
    expect((await change({ ids, remove: true })).body).toEqual({ changed: 63, skipped: 0 });
    expect((await list()).total).toBe(0);
    expect((await api.get("/breaches")).body).toMatchObject({ total: 0 });
    expect((await logged())[0]).toMatchObject({ action: "emails.removed", summary: "Removed 63 addresses" });
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
    // The addresses are free again.
    await addEmail(api, domainId, "ada@demo.example");
  });

  test("two requests at once change each e-mail once", async () => {
    const { id: org, list, change } = await create(60);
    const ids = idsOf(await list());
    const replies = await Promise.all([
      change({ ids, set: { isActive: false } }),
      change({ ids: ids.toReversed(), set: { isActive: false } }),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([200, 200]);
    const changed = replies.map(({ body }) => Number(body.changed));
    expect((changed[0] ?? 0) + (changed[1] ?? 0)).toBe(60);
    expect(await admin("check", { org })).toMatchObject({ differences: [] });
  });
});

describe("400", () => {
  let user: SignedIn;
  beforeAll(async () => {
    user = await signedIn((await createOrganization()).id);
  });
  test.each([
    {},
    { ids: [1] },
    { ids: [], remove: true },
    { ids: [1], remove: false },
    { ids: [1], set: {} },
    { ids: [1], set: { isActive: true }, remove: true },
    { ids: [1], set: { email: "x@demo.example" } },
    { ids: ["1"], set: { isActive: true } },
    { ids: [1], set: { ownerName: "x".repeat(201) } },
    { ids: Array.from({ length: 501 }, (_, at) => at + 1), remove: true },
  ])("%j", async (body) => expectRefusal(await user.dashboard.post("/emails/changes", body), 400, /./));
});

describe("404", () => {
  test("one unknown id among others, or an unknown team: nothing is done", async () => {
    const { list, change } = await create(3);
    const known = idsOf(await list());
    const ids = [...known, unknownId];
    expectRefusal(await change({ ids, remove: true }), 404, /monitored email/);
    expectRefusal(await change({ ids, set: { isActive: false } }), 404, /monitored email/);
    expectRefusal(await change({ ids: known, set: { teamId: unknownId } }), 404, /team/i);
    expect(await list("isActive=true")).toMatchObject({ total: 3 });
  });
});

describe("429", () => {
  test("twenty requests an hour, however many e-mails each changes", async () => {
    const { list, change } = await create(1);
    const ids = idsOf(await list());
    for (let at = 0; at < 20; at++)
      expect((await change({ ids, set: { isActive: at % 2 === 1 } })).status).toBe(200);
    const refused = await change({ ids, set: { isActive: false } });
    expectRefusal(refused, 429, /./);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  });
});
