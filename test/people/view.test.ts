/** What the page shows of directories: the person of an address, and what a directory has brought. */
import { expect, test } from "vitest";
import { eventually } from "../service/eventually.ts";
import { type Connected, connected, scimClient } from "./connected.ts";

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const own = "urn:breach-monitor:scim:2.0:User";

const post = async ({ scim }: Pick<Connected, "scim">, path: string, body: object): Promise<string> => {
  const { status, body: created } = await scim.post(path, body);
  expect(status).toBe(201);
  return created.id as string;
};

const idOf = async ({ dashboard }: Connected, email: string): Promise<unknown> => {
  const find = async () => (await dashboard.list("/emails")).find((each) => each.email === email)?.id;
  return eventually(find, (id) => id !== undefined);
};

const shown = async (of: Connected, id: unknown) => (await of.dashboard.get(`/emails/${id}`)).body;

const didOf = (email: Record<string, unknown>) => (email.history as { did: string }[]).map(({ did }) => did);

test("an address shows its person in names, what followed, and who has left", async () => {
  const of = await connected();
  const email = `ada@${of.domain}`;
  const manager = await post(of, "/Users", { userName: "charles", displayName: "Charles Babbage" });
  const ada = await post(of, "/Users", {
    userName: email,
    displayName: "Ada Lovelace",
    title: "Analyst",
    [enterprise]: { department: "Research", manager: { value: manager } },
    [own]: { passwordChangedAt: "2026-11-03T08:15:00Z", privileged: true },
  });
  for (const displayName of ["Writers", "Admins"])
    await post(of, "/Groups", { displayName, members: [{ value: ada }] });
  const id = await idOf(of, email);
  const person = {
    directory: "Entra",
    displayName: "Ada Lovelace",
    title: "Analyst",
    department: "Research",
    manager: "Charles Babbage",
    active: true,
    passwordChangedAt: "2026-11-03T08:15:00.000Z",
    privileged: true,
    groups: ["Admins", "Writers"],
  };
  const before = await shown(of, id);
  expect(before).toMatchObject({ leftAt: null, isPrivileged: true, hasLeft: false });
  expect(before.person).toEqual(person);
  expect(didOf(before)).toEqual(["added"]);

  expect(
    (await of.scim.patch(`/Users/${ada}`, { Operations: [{ op: "replace", value: { active: false } }] }))
      .status,
  ).toBe(200);
  const left = await eventually(
    () => shown(of, id),
    ({ hasLeft }) => hasLeft === true,
  );
  expect(left.person).toEqual({ ...person, active: false, privileged: false });
  expect(left.leftAt).toBe((left.history as { at: string }[])[0]?.at);
  expect(didOf(left)).toEqual(["disabled", "added"]);

  expect((await of.scim.delete(`/Users/${ada}`)).status).toBe(204);
  const deleted = await eventually(
    () => shown(of, id),
    (each) => (each.person as typeof person).title === null,
  );
  expect(deleted).toMatchObject({
    leftAt: left.leftAt,
    person: { directory: "Entra", displayName: "Ada Lovelace", active: false, groups: [] },
  });
});

test("an address that no directory has named has no person and no history", async () => {
  const of = await connected();
  const { body } = await of.v1.post("/emails", { email: `ada@${of.domain}`, domainId: of.domainId });
  expect(await shown(of, body.id)).toMatchObject({ person: null, leftAt: null, history: [] });
});

test("of two directories the one whose person is active is shown, else the first", async () => {
  const of = await connected();
  const email = `ada@${of.domain}`;
  const { body } = await of.dashboard.post("/directories", { name: "Okta" });
  const okta = scimClient(body.token as string);
  const user = (displayName: string, passwordChangedAt: string) => ({
    userName: email,
    displayName,
    [own]: { passwordChangedAt },
  });
  const first = await post(of, "/Users", user("Ada of Entra", "2026-11-05T00:00:00Z"));
  const second = await post({ scim: okta }, "/Users", user("Ada of Okta", "2026-11-03T00:00:00Z"));
  const id = await idOf(of, email);
  const directoryOf = async () => (await shown(of, id)).person;
  const latest = { passwordChangedAt: "2026-11-05T00:00:00.000Z" };
  expect(await directoryOf()).toMatchObject({ directory: "Entra", displayName: "Ada of Entra", ...latest });
  const leave = { Operations: [{ op: "replace", value: { active: false } }] };
  await of.scim.patch(`/Users/${first}`, leave);
  expect(await directoryOf()).toMatchObject({ directory: "Okta", displayName: "Ada of Okta", ...latest });
  await okta.patch(`/Users/${second}`, leave);
  expect(await directoryOf()).toMatchObject({ directory: "Entra", active: false });
});

test("a manager by an id of another directory, or by none, has no name", async () => {
  const of = await connected();
  const { body } = await of.dashboard.post("/directories", { name: "Okta" });
  const stranger = await post({ scim: scimClient(body.token as string) }, "/Users", { userName: "eve" });
  const email = `ada@${of.domain}`;
  const ada = await post(of, "/Users", { userName: email, [enterprise]: { manager: { value: stranger } } });
  const id = await idOf(of, email);
  expect((await shown(of, id)).person).toMatchObject({ displayName: email, manager: null });
  await of.scim.patch(`/Users/${ada}`, {
    Operations: [{ op: "replace", path: `${enterprise}:manager`, value: "boss-7" }],
  });
  expect((await shown(of, id)).person).toMatchObject({ manager: null });
});

test("what cannot be watched is counted and named by directory, until it can", async () => {
  const of = await connected();
  const { directoryId, dashboard } = of;
  const outside = [`ada@one.${of.domain}`, `grace@one.${of.domain}`, `hedy@two.${of.domain}`];
  const ids: string[] = [];
  for (const userName of outside) ids.push(await post(of, "/Users", { userName }));
  const noAddress = await post(of, "/Users", { userName: "robot", displayName: "A robot" });
  await post(of, "/Users", { userName: "gone", active: false });
  type Listed = { addresses: { otherDomains: number }; users: number; withoutAddress: number };
  const listed = async () => ((await dashboard.get("/directories")).body.directories as [Listed])[0];
  const hasOutside = (expected: number) =>
    eventually(listed, (row) => row.addresses.otherDomains === expected);
  expect(await hasOutside(3)).toMatchObject({ users: 5, withoutAddress: 1 });
  const details = async () => (await dashboard.get(`/directories/${directoryId}`)).body;
  expect(await details()).toEqual({
    otherDomains: {
      domains: [
        { name: `one.${of.domain}`, addresses: 2 },
        { name: `two.${of.domain}`, addresses: 1 },
      ],
      total: 2,
    },
    withoutAddress: [{ displayName: "A robot", userName: "robot" }],
  });

  for (const id of ids.slice(1)) expect((await of.scim.delete(`/Users/${id}`)).status).toBe(204);
  await of.scim.patch(`/Users/${noAddress}`, {
    Operations: [{ op: "add", path: "emails", value: [{ value: `robot@${of.domain}` }] }],
  });
  expect(await hasOutside(1)).toMatchObject({ withoutAddress: 0 });
  expect(await details()).toEqual({
    otherDomains: { domains: [{ name: `one.${of.domain}`, addresses: 1 }], total: 1 },
    withoutAddress: [],
  });
  expect((await dashboard.get("/directories/999999999")).status).toBe(404);
});

test("joiners that wait for a seat are counted until there is one", async () => {
  const of = await connected({ "seat-allowance": "1" });
  const ids: string[] = [];
  for (const name of ["ada", "grace", "hedy"])
    ids.push(await post(of, "/Users", { userName: `${name}@${of.domain}` }));
  const isWaiting = (expected: number) =>
    eventually(
      async () => (await of.dashboard.get("/directories")).body.waitingForSeat,
      (many) => many === expected,
    );
  await isWaiting(2);
  expect((await of.scim.delete(`/Users/${ids[0]}`)).status).toBe(204);
  await isWaiting(1);
});
