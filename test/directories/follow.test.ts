/** What follows from a directory, by its workers in this process: seats, teams, several directories, races, costs. */
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { remove } from "../../shared/findings/email-removal.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { setVerified } from "../../shared/monitoring/domains/proof.ts";
import { setActive } from "../../shared/monitoring/emails/email.ts";
import { list } from "../../shared/monitoring/emails/email-list.ts";
import { emails as rows } from "../../shared/monitoring/emails/record.ts";
import * as directories from "../../shared/people/directory.ts";
import { work } from "../../shared/people/follow/work.ts";
import { activeBilling } from "../access/organizations/billing.ts";
import { recordCapacity } from "../aws/table/engine.ts";
import { dieAfter, onTableRequest } from "../aws/table/request-points.ts";
import { createOrganization, invocation, useWorkers } from "../scanning/in-process-workers.ts";
import { scimRequest } from "./scim-requests.ts";

useWorkers();

const domain = "own.example";
let org: number;
let entra: Connection;
// Requests that break are logged as errors.
beforeEach(async () => {
  vi.stubEnv("POWERTOOLS_LOG_LEVEL", "SILENT");
  org = await createOrganization({ [domain]: 0 });
  entra = await connect("Entra");
});

type Connection = Awaited<ReturnType<typeof connect>>;

const connect = async (name: string) => {
  const { id, token } = await directories.connect(org, name, administrator);
  const send = (...request: [string, string, unknown?, Record<string, string>?]) =>
    scimRequest(token, ...request);
  return {
    id,
    send,
    add: async (alias: string, also: Record<string, unknown> = {}): Promise<string> => {
      const { body, status } = await send("POST", "Users", { userName: `${alias}@${domain}`, ...also });
      expect(status, JSON.stringify(body)).toBe(201);
      return body.id as string;
    },
    set: (id: string, value: Record<string, unknown>) =>
      send("PATCH", `Users/${id}`, { Operations: [{ op: "replace", value }] }),
    list: async () => (await directories.list(org)).directories.find((each) => each.id === id),
  };
};

const follow = async (): Promise<void> => {
  await work({ organizationId: org }, invocation());
  // Those who wait for seats are all that may be left.
  const left = await table.query<{ sk: string }>({ pk: keys.directoryTask(org, "").pk });
  expect(left.map(({ sk }) => sk).filter((name) => !name.startsWith("SEATS"))).toEqual([]);
};

const emails = async () => (await list(org, { limit: 100, offset: 0 })).emails;

/** By alias: whether it is enabled. */
const watched = async (): Promise<Record<string, boolean>> =>
  Object.fromEntries((await emails()).map(({ email, isActive }) => [email.split("@")[0], isActive]));

const one = async (alias: string) => (await emails()).find(({ email }) => email.startsWith(`${alias}@`));

const teamOf = async (alias: string): Promise<string | undefined> => (await one(alias))?.team?.name;

test("beyond the allowance joiners wait, and who waits longest gets the next seat", async () => {
  await organizations.set(org, { billing: { ...activeBilling, seatAllowance: 2 } });
  const ada = await entra.add("ada");
  for (const alias of ["alan", "grace", "linus"]) {
    await entra.add(alias);
    await follow();
  }
  expect(await watched()).toEqual({ ada: true, alan: true, grace: false, linus: false });
  await entra.set(ada, { active: false });
  await follow();
  expect(await watched()).toEqual({ ada: false, alan: true, grace: true, linus: false });
  // Who joins now waits behind those who wait already.
  await setActive(org, (await one("alan"))?.id ?? 0, false, administrator);
  await entra.add("tim");
  await follow();
  expect(await watched()).toMatchObject({ linus: true, tim: false });
  await entra.set(ada, { active: true });
  await organizations.set(org, { billing: activeBilling });
  await follow();
  expect(await watched()).toMatchObject({ ada: true, tim: true, alan: false });
  expect(await table.query({ pk: keys.seatWait(org, "", "").pk })).toEqual([]);
});

test("who waits when the domain is lost is enabled once it is verified again", async () => {
  await organizations.set(org, { billing: { ...activeBilling, seatAllowance: 1 } });
  await entra.add("ada");
  await entra.add("alan");
  await follow();
  const id = (await domains.list(org))[0]?.id ?? 0;
  await setVerified(org, id, false);
  await organizations.set(org, { billing: activeBilling });
  await follow();
  await follow();
  expect(await watched()).toEqual({ ada: true, alan: false });
  await setVerified(org, id, true);
  await follow();
  await follow();
  expect(await watched()).toEqual({ ada: true, alan: true });
  expect(await table.query({ pk: keys.seatWait(org, "", "").pk })).toEqual([]);
});

test("with two directories an address is disabled when both say that it is over", async () => {
  const okta = await connect("Okta");
  const [first, second] = [await entra.add("ada"), await okta.add("ada")];
  await follow();
  await entra.send("DELETE", `Users/${first}`);
  await follow();
  expect(await one("ada")).toMatchObject({ isActive: true, hasLeft: false });
  await okta.set(second, { active: false });
  await follow();
  expect(await one("ada")).toMatchObject({ isActive: false, hasLeft: true });
});

test("an address that is taken off is disabled, but its person has not left", async () => {
  const id = await entra.add("ada", { emails: [{ value: `old@${domain}` }] });
  await follow();
  await entra.send("PATCH", `Users/${id}`, { Operations: [{ op: "remove", path: "emails" }] });
  await follow();
  expect(await watched()).toEqual({ ada: true, old: false });
  expect(await one("old")).toMatchObject({ hasLeft: false });
  await entra.set(id, { emails: [{ value: `old@${domain}` }] });
  await follow();
  expect(await watched()).toEqual({ ada: true, old: true });
});

test("what people change by hand stays until the directory changes the same attribute", async () => {
  const id = await entra.add("ada", { displayName: "Ada Lovelace" });
  await follow();
  const email = (await one("ada"))?.id ?? 0;
  await setActive(org, email, false, administrator);
  await entra.set(id, { displayName: "Ada King" });
  await follow();
  expect(await one("ada")).toMatchObject({ ownerName: "Ada King", isActive: false });
  await remove(org, email, administrator);
  await entra.set(id, { displayName: "Ada Lovelace" });
  await follow();
  expect(await one("ada")).toBeUndefined();
  await entra.set(id, { active: false });
  await follow();
  await entra.set(id, { active: true });
  await follow();
  expect(await one("ada")).toMatchObject({ ownerName: "Ada Lovelace", isActive: true });
});

test("teams come from the first group by name, also after it is renamed or deleted", async () => {
  await directories.change(org, entra.id, { teamFrom: "group" }, administrator);
  const id = await entra.add("ada");
  const groupOf = async (displayName: string): Promise<string> =>
    (await entra.send("POST", "Groups", { displayName, members: [{ value: id }] })).body.id as string;
  const [security] = [await groupOf("Security"), await groupOf("Sales")];
  await follow();
  expect(await teamOf("ada")).toBe("Sales");
  await entra.send("PATCH", `Groups/${security}`, {
    Operations: [{ op: "Replace", value: { displayName: "Admins" } }],
  });
  await follow();
  expect(await teamOf("ada")).toBe("Admins");
  await entra.send("DELETE", `Groups/${security}`);
  await follow();
  expect(await teamOf("ada")).toBe("Sales");
  await directories.change(org, entra.id, { teamFrom: "department" }, administrator);
  await follow();
  expect(await teamOf("ada")).toBeUndefined();
});

test("another name of a group costs the same in large groups where it makes no teams", async () => {
  const ids = [];
  for (let index = 0; index < 14; index++) ids.push(await entra.add(`user${index}`));
  const groupOf = async (displayName: string, members: string[]): Promise<string> => {
    const content = { displayName, members: members.map((value) => ({ value })) };
    return (await entra.send("POST", "Groups", content)).body.id as string;
  };
  const [large, small] = [await groupOf("Large", ids), await groupOf("Small", ids.slice(0, 1))];
  await follow();
  const capacity = recordCapacity();
  const costOf = async (id: string): Promise<number> => {
    await entra.send("PATCH", `Groups/${id}`, {
      Operations: [{ op: "replace", path: "displayName", value: `Former ${id}` }],
    });
    capacity.take();
    await follow();
    return capacity.take().calls;
  };
  expect(await costOf(large)).toBe(await costOf(small));
});

test("a change of many members is done whole, whenever its function dies", async () => {
  const ids: string[] = [];
  for (let index = 0; index < 14; index++) ids.push(await entra.add(`user${index}`));
  const { body } = await entra.send("POST", "Groups", { displayName: "All" });
  const path = `Groups/${body.id}`;
  const membersNow = async () => ((await entra.send("GET", path)).body.members as unknown[]).length;
  const [half, others] = [ids.slice(0, 12), ids.slice(2)];
  const values = (some: readonly string[]) => some.map((value) => ({ value }));
  for (const [died, members] of [half, others, half].entries()) {
    dieAfter(1 + died, died % 2 === 0 ? "before" : "after");
    await entra.send("PUT", path, { displayName: "All", members: values(members) });
    await follow();
    expect(await membersNow()).toBe(12);
  }
  const { body: user } = await entra.send("GET", `Users/${ids[0]}`);
  expect(user.groups).toMatchObject([{ display: "All" }]);
  const foreign = { op: "add", path: "members", value: values([...ids, "999999"]) };
  const refused = await entra.send("PATCH", path, { Operations: [foreign] });
  expect(refused).toMatchObject({ status: 400, body: { scimType: "invalidValue" } });
  expect(await membersNow()).toBe(12);
});

test("a large change that died does not undo a later small one", async () => {
  const ids = [];
  for (const alias of ["ada", "alan", "grace", "linus"]) ids.push(await entra.add(alias));
  const { body } = await entra.send("POST", "Groups", { displayName: "All" });
  const path = `Groups/${body.id}`;
  // The change is noted, and its first step dies.
  dieAfter(1);
  const members = ids.map((value) => ({ value }));
  await entra.send("PUT", path, { displayName: "All", members });
  const remove = { op: "remove", path: `members[value eq "${ids[0]}"]` };
  expect((await entra.send("PATCH", path, { Operations: [remove] })).status).toBe(204);
  await follow();
  const now = (await entra.send("GET", path)).body.members as { value: string }[];
  expect(now.map(({ value }) => value).sort()).toEqual(ids.slice(1).sort());
});

test("a large change that died makes nobody a member of a deleted group", async () => {
  const ids = [];
  for (const alias of ["ada", "alan", "grace", "linus"]) ids.push(await entra.add(alias));
  const { body } = await entra.send("POST", "Groups", { displayName: "All" });
  dieAfter(1);
  const members = ids.map((value) => ({ value }));
  await entra.send("PUT", `Groups/${body.id}`, { displayName: "All", members });
  await entra.send("DELETE", `Groups/${body.id}`);
  await follow();
  expect(await table.query({ pk: keys.groupMember(org, 0, 0).pk })).toEqual([]);
});

test("people with twenty addresses each join a group of which teams are made", async () => {
  await directories.change(org, entra.id, { teamFrom: "group" }, administrator);
  const ids = [];
  for (const alias of ["ada", "alan", "grace", "linus", "tim"]) {
    const values = Array.from({ length: 20 }, (_, index) => ({ value: `${alias}${index}@${domain}` }));
    ids.push(await entra.add(alias, { emails: values }));
  }
  const members = ids.map((value) => ({ value }));
  const { status } = await entra.send("POST", "Groups", { displayName: "All", members });
  expect(status).toBe(201);
  await follow();
  await follow();
  const { total } = await list(org, { limit: 1, offset: 0, teamId: (await one("ada"))?.team?.id });
  expect(total).toBe(105);
});

test("names with links or unseen characters become no part of sentences", async () => {
  const alan = await entra.add("alan", { displayName: "Alan \u202eTuring\u200b" });
  await entra.add("ada", { displayName: "Ada https://evil.example/login" });
  await follow();
  const nameOf = async (alias: string) => (await rows.get(org, (await one(alias))?.id ?? 0))?.person?.name;
  expect([await nameOf("alan"), await nameOf("ada")]).toEqual(["Alan Turing", ""]);
  const { body } = await entra.send("GET", `Users/${alan}`);
  expect(body.displayName).toBe("Alan Turing");
});

test("who is changed while a worker looks at them is looked at again", async () => {
  const id = await entra.add("ada");
  await follow();
  await entra.set(id, { active: false });
  const race = onTableRequest("any transaction", "before", async () => {
    await entra.set(id, { active: true });
  });
  await follow();
  expect(race.happened).toBe(true);
  expect(await one("ada")).toMatchObject({ isActive: true, hasLeft: false });
});

test("of two changes within one millisecond neither is lost", async () => {
  const user = await entra.add("ada");
  const { body } = await entra.send("POST", "Groups", { displayName: "All" });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  onTestFinished(() => void vi.useRealTimers());
  for (const path of [`Users/${user}`, `Groups/${body.id}`]) {
    const set = (value: Record<string, string>) =>
      entra.send("PATCH", path, { Operations: [{ op: "replace", value }] });
    await set({ externalId: "first" });
    const race = onTableRequest("any transaction", "before", async () => {
      await set({ externalId: "second" });
    });
    await set({ displayName: "Changed" });
    expect(race.happened).toBe(true);
    const after = (await entra.send("GET", path)).body;
    expect(after).toMatchObject({ displayName: "Changed", externalId: "second" });
  }
});

test("a disconnected directory leaves e-mails as they are, and forgets its people", async () => {
  const [ada, alan] = [await entra.add("ada"), await entra.add("alan")];
  await entra.send("POST", "Groups", { displayName: "All", members: [{ value: ada }] });
  await follow();
  await entra.send("DELETE", `Users/${alan}`);
  await follow();
  await directories.disconnect(org, entra.id, administrator);
  expect((await entra.send("GET", "Users")).status).toBe(401);
  for (let count = 0; count < 3; count++) await work({ organizationId: org }, invocation());
  await follow();
  expect(await watched()).toEqual({ ada: true, alan: false });
  expect((await list(org, { limit: 10, offset: 0, source: "directory" })).total).toBe(0);
  for (const key of [
    keys.personName(org, 0, ""),
    keys.groupName(org, 0, ""),
    keys.groupMember(org, 0, 0),
    keys.externalId(org, 0, "PERSON", "", 0),
  ])
    expect(await table.query({ pk: key.pk })).toEqual([]);
});

test("who is deleted while joining a group is no member of it", async () => {
  const id = await entra.add("ada");
  const { body } = await entra.send("POST", "Groups", { displayName: "All" });
  const operation = { op: "add", path: "members", value: [{ value: id }] };
  const race = onTableRequest("any transaction", "before", async () => {
    await entra.send("PATCH", `Groups/${body.id}`, { Operations: [operation] });
  });
  expect((await entra.send("DELETE", `Users/${id}`)).status).toBe(204);
  expect(race.happened).toBe(true);
  expect((await entra.send("GET", `Groups/${body.id}`)).body.members).toEqual([]);
});

test("a page ends before its reply is too large, and the next one goes on there", async () => {
  const large = "é".repeat(1_000);
  const emails = Array.from({ length: 20 }, (_, index) => ({ type: `${index}`, display: large }));
  const name = { formatted: large, givenName: large, familyName: large, middleName: large };
  const count = 90;
  for (let index = 0; index < count; index++)
    await entra.add(`user${index}`, {
      name,
      emails: emails.map((each) => ({ ...each, value: "a@b.example" })),
    });
  const found = new Set<string>();
  for (let pages = 1; found.size < count; pages++) {
    const startIndex = String(found.size + 1);
    const { body } = await entra.send("GET", "Users", undefined, { startIndex });
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(5_000_000);
    for (const { id } of body.Resources as { id: string }[]) found.add(id);
    expect(body).toMatchObject({ totalResults: count, itemsPerPage: (body.Resources as unknown[]).length });
    if (pages === 1) expect(found.size).toBeLessThan(count);
  }
});

test("counts of a directory are exact, and addresses of other domains are not watched", async () => {
  await entra.add("ada", { emails: [{ value: "ada@elsewhere.example" }] });
  const alan = await entra.add("alan");
  await entra.set(alan, { active: false });
  await follow();
  expect(await entra.list()).toMatchObject({
    users: 2,
    activeUsers: 1,
    addresses: { watched: 1, disabled: 0, otherDomains: 1 },
  });
  await entra.set(alan, { active: true });
  await follow();
  await entra.set(alan, { active: false });
  await follow();
  expect((await entra.list())?.addresses).toEqual({ watched: 1, disabled: 1, otherDomains: 1 });
});

test("requests cost the same in large directories: trips and units", async () => {
  const capacity = recordCapacity();
  const ids: string[] = [];
  const costs: Record<string, { calls: number; readUnits: number; writeUnits: number }> = {};
  const measured = async <T>(name: string, act: () => Promise<T>): Promise<T> => {
    capacity.take();
    const result = await act();
    costs[name] = capacity.take();
    return result;
  };
  const about = {
    externalId: "5c1bd1a0-9d3c-4a52-8f21-0a6a1f8a2b3c",
    displayName: "Ada Lovelace",
    name: { givenName: "Ada", familyName: "Lovelace" },
    title: "Analyst",
    "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User": { department: "Research" },
  };
  const more = 60;
  for (let index = 0; index < more; index++) ids.push(await entra.add(`user${index}`, about));
  const members = ids.map((value) => ({ value }));
  const { body } = await entra.send("POST", "Groups", { displayName: "All", members: members.slice(1) });
  const emails = [{ value: `a.lovelace@${domain}`, type: "work", primary: true }];
  await measured("POST user", async () => ids.push(await entra.add("ada", { ...about, emails })));
  const id = ids.at(-1) as string;
  await measured("PATCH user", () => entra.set(id, { active: false }));
  await measured("PATCH user, no change", () => entra.set(id, { active: false }));
  const filter = `userName eq "ada@${domain}"`;
  await measured("look-up", () => entra.send("GET", "Users", undefined, { filter }));
  const add = { op: "Add", path: "members", value: [{ value: id }] };
  await measured("add member", () => entra.send("PATCH", `Groups/${body.id}`, { Operations: [add] }));
  await measured("DELETE user", () => entra.send("DELETE", `Users/${id}`));
  for (const name of ["POST user", "PATCH user", "DELETE user", "add member"]) {
    expect(costs[name]?.calls, name).toBeLessThanOrEqual(6);
    expect(costs[name]?.writeUnits, name).toBeLessThanOrEqual(40);
  }
  expect(costs["look-up"]?.readUnits).toBeLessThanOrEqual(3);
  expect(costs["PATCH user, no change"]?.writeUnits).toBe(1);
});
