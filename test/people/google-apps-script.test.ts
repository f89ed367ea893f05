/** The script of docs/directory that a Google Workspace runs, against the running service. */
import { expect, test } from "vitest";
import { createWorkspace, type WorkspaceUser } from "./apps-script.ts";
import { createDirectory } from "./directory.ts";

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

let ids = 0;
const userOf = (name: string, attributes: object = {}): WorkspaceUser => ({
  id: `11545000000000${String(++ids).padStart(7, "0")}`,
  primaryEmail: `${name}@demo.example`,
  name: { givenName: name, familyName: "Test", fullName: `${name} Test` },
  suspended: false,
  archived: false,
  orgUnitPath: "/Staff",
  isAdmin: false,
  isDelegatedAdmin: false,
  emails: [{ address: `${name}@home.example`, type: "home" }],
  recoveryEmail: `${name}@home.example`,
  ...attributes,
});

const create = async (properties: Record<string, string> = {}) => {
  const directory = await createDirectory();
  const workspace = createWorkspace({
    SCIM_URL: `${directory.url}/`,
    SCIM_TOKEN: ` ${directory.token}`,
    ...properties,
  });
  const users = async () =>
    (await directory.list("/Users?count=200")).map(({ userName, active }) => ({ userName, active }));
  const writes = () => workspace.requests.filter(({ method }) => method !== "get");
  return { ...directory, workspace, users, writes };
};

const active = (name: string) => ({ userName: `${name}@demo.example`, active: true });
const inactive = (name: string) => ({ userName: `${name}@demo.example`, active: false });

test("its people come with what the Workspace says of them, and no private address", async () => {
  const { workspace, list, users } = await create();
  workspace.users = [
    userOf("ada", {
      aliases: ["lovelace@demo.example"],
      organizations: [{ title: "Old" }, { primary: true, title: "Analyst", department: "Engines" }],
      languages: [{ languageCode: "en-GB", preference: "preferred" }],
      relations: [{ type: "manager", value: "charles@demo.example" }],
      externalIds: [{ type: "organization", value: "1815" }],
      isDelegatedAdmin: true,
    }),
    userOf("grace"),
    userOf("gone", { suspended: true }),
  ];
  expect(await workspace.run("install")).toMatchObject({ error: undefined });
  expect(await users()).toEqual(expect.arrayContaining([active("ada"), active("grace")]));
  expect(await users()).toHaveLength(2);
  expect(workspace.triggers).toEqual(new Map([["synchronize", 3_600_000]]));
  const [ada] = await list(`/Users?filter=${encodeURIComponent('userName eq "ada@demo.example"')}`);
  expect(ada).toMatchObject({
    externalId: workspace.users[0]?.id,
    displayName: "ada Test",
    title: "Analyst",
    preferredLanguage: "en-GB",
    emails: [
      { value: "ada@demo.example", type: "work", primary: true },
      { value: "lovelace@demo.example", type: "other" },
    ],
    [enterprise]: {
      department: "Engines",
      employeeNumber: "1815",
      manager: { value: "charles@demo.example" },
    },
    "urn:breach-monitor:scim:2.0:User": { privileged: true },
  });
  expect(JSON.stringify(ada)).not.toContain("home.example");
});

test("a run without changes asks for nothing, and one change costs two requests", async () => {
  const { workspace, list } = await create();
  workspace.users = Array.from({ length: 30 }, (_, index) => userOf(`user-${index}`));
  workspace.pageSize = 7;
  await workspace.run();
  expect(await workspace.run()).toMatchObject({ error: undefined });
  expect(workspace.requests).toEqual([]);
  workspace.users[7] = { ...(workspace.users[7] as WorkspaceUser), organizations: [{ title: "Analyst" }] };
  await workspace.run();
  expect(workspace.requests.map(({ method }) => method)).toEqual(["get", "patch"]);
  const titles = async () => (await list("/Users?count=200")).map(({ title }) => title).filter(Boolean);
  expect(await titles()).toEqual(["Analyst"]);
  workspace.users[7] = { ...(workspace.users[7] as WorkspaceUser), organizations: [] };
  await workspace.run();
  expect(await titles()).toEqual([]);
});

test("who is suspended, archived or deleted becomes inactive, and comes back", async () => {
  const { workspace, users } = await create();
  const [ada, grace, mary] = ["ada", "grace", "mary"].map((name) => userOf(name)) as [
    WorkspaceUser,
    WorkspaceUser,
    WorkspaceUser,
  ];
  workspace.users = [ada, grace, mary];
  await workspace.run();
  workspace.users = [
    { ...ada, suspended: true },
    { ...grace, archived: true },
  ];
  workspace.deleted = [mary];
  await workspace.run();
  expect(await users()).toEqual(expect.arrayContaining([inactive("ada"), inactive("grace")]));
  expect(await users()).toHaveLength(2);
  workspace.users = [ada, grace, mary];
  workspace.deleted = [];
  await workspace.run();
  expect(await users()).toEqual(expect.arrayContaining([active("ada"), active("grace"), active("mary")]));
});

test("whom a list lacks stays, as does everybody when a page fails", async () => {
  const { workspace, users } = await create();
  workspace.users = [userOf("ada"), userOf("grace")];
  await workspace.run();
  workspace.users = [];
  await workspace.run();
  expect(await users()).toEqual(expect.arrayContaining([active("ada"), active("grace")]));
  workspace.users = [userOf("mary"), userOf("joan")];
  workspace.pageSize = 1;
  workspace.failList = (pageToken) => {
    if (pageToken !== undefined) throw new Error("Service unavailable");
  };
  expect(await workspace.run()).toMatchObject({ error: "Service unavailable" });
  expect(workspace.requests).toEqual([]);
  let failures = 2;
  workspace.failList = () => {
    if (failures-- > 0) throw new Error("Rate Limit Exceeded");
  };
  expect(await workspace.run()).toMatchObject({ error: undefined });
  expect(await users()).toHaveLength(4);
});

test("only organizational units of ORG_UNITS come, and who leaves them is inactive", async () => {
  const { workspace, users } = await create({ ORG_UNITS: "/Staff, /Board/" });
  const ada = userOf("ada", { orgUnitPath: "/Staff/Engines" });
  workspace.users = [
    ada,
    userOf("kiosk", { orgUnitPath: "/Staffless" }),
    userOf("grace", { orgUnitPath: "/Board" }),
  ];
  await workspace.run();
  expect(await users()).toEqual(expect.arrayContaining([active("ada"), active("grace")]));
  expect(await users()).toHaveLength(2);
  workspace.users = [{ ...ada, orgUnitPath: "/Guests" }];
  await workspace.run();
  expect(await users()).toContainEqual(inactive("ada"));
});

test("an account anew with a former address takes over who has the name", async () => {
  const { workspace, users, scim, list } = await create();
  await scim("POST", "/Users", { userName: "Ada@demo.example", externalId: "by hand", title: "Boss" });
  const ada = userOf("ada");
  workspace.users = [ada];
  expect(await workspace.run()).toMatchObject({ error: undefined });
  expect(await users()).toEqual([active("ada")]);
  const [user] = await list("/Users");
  expect(user.externalId).toBe(ada.id);
  expect(user.title).toBeUndefined();
});

test("what others push for a person stays", async () => {
  const { workspace, list, scim } = await create();
  const ada = userOf("ada");
  workspace.users = [ada];
  await workspace.run();
  const [{ id }] = await list("/Users");
  const own = "urn:breach-monitor:scim:2.0:User";
  const path = `${own}:passwordChangedAt`;
  await scim("PATCH", `/Users/${id}`, { Operations: [{ op: "add", path, value: "2026-11-03T08:15:00Z" }] });
  workspace.users = [{ ...ada, isAdmin: true }];
  await workspace.run();
  const [user] = await list("/Users");
  expect(user[own]).toMatchObject({ privileged: true, passwordChangedAt: expect.any(String) });
});

test("dates of passwords come from Google's log, the last of each person", async () => {
  const { workspace, list } = await create();
  workspace.users = ["ada", "grace", "mary"].map((name) => userOf(name));
  const [ada = "", grace = "", mary = ""] = workspace.users.map(({ id }) => id);
  workspace.passwordChanges = [
    { id: ada, at: "2026-09-01T08:00:00.000Z" },
    { id: ada, at: "2026-11-03T08:15:00.123Z" },
    { id: grace, at: "2026-10-01T08:00:00.000Z" },
    { id: "115450000000009999999", at: "2026-11-04T08:00:00.000Z" },
  ];
  workspace.pageSize = 2;
  const dates = async () =>
    Object.fromEntries(
      (await list("/Users?count=200")).map((user) => [
        user.externalId,
        user["urn:breach-monitor:scim:2.0:User"].passwordChangedAt,
      ]),
    );
  expect(await workspace.run()).toMatchObject({ error: undefined });
  const both = { [ada]: "2026-11-03T08:15:00.123Z", [grace]: "2026-10-01T08:00:00.000Z", [mary]: undefined };
  expect(await dates()).toEqual(both);
  // Of six hours before the last one, what came late is found. Nobody's date goes back.
  workspace.passwordChanges.push({ id: mary, at: "2026-11-04T03:00:00.000Z" });
  workspace.passwordChanges.push({ id: ada, at: "2026-11-04T02:30:00.000Z" });
  workspace.fault = ({ method }) => (method === "patch" ? { status: 503, headers: {}, text: "" } : undefined);
  expect((await workspace.run()).error).toMatch(/A date of a password: 503/);
  workspace.fault = () => undefined;
  expect(await workspace.run()).toMatchObject({ error: undefined });
  const later = { [ada]: "2026-11-04T02:30:00.000Z", [mary]: "2026-11-04T03:00:00.000Z" };
  expect(await dates()).toEqual({ ...both, ...later });
  await workspace.run();
  expect(workspace.requests.map(({ method }) => method)).not.toContain("patch");
});

test("at 429, 5xx and no answer it waits and asks again", async () => {
  const { workspace, users } = await create();
  workspace.users = Array.from({ length: 6 }, (_, index) => userOf(`user-${index}`));
  let asked = 0;
  workspace.fault = () => {
    asked++;
    if (asked === 2) return { status: 429, headers: { "Retry-After": "40" }, text: '{"status":"429"}' };
    if (asked === 8) return { status: 503, headers: {}, text: "<html>Unavailable</html>" };
    if (asked === 9) throw new Error("DNS error");
    return undefined;
  };
  const { error, minutes } = await workspace.run();
  expect(error).toBeUndefined();
  expect(minutes).toBeGreaterThan(40 / 60);
  expect(minutes).toBeLessThan(3);
  expect(await users()).toHaveLength(6);
});

test("what goes on failing is said, and is tried again by the next run", async () => {
  const { workspace, users } = await create();
  workspace.users = [userOf("ada"), userOf("grace")];
  workspace.fault = ({ payload }) =>
    payload?.includes("ada@") ? { status: 500, headers: {}, text: "" } : undefined;
  expect((await workspace.run()).error).toMatch(/^1 requests failed and are tried again: POST 500/);
  expect(await users()).toEqual([active("grace")]);
  workspace.fault = () => undefined;
  expect(await workspace.run()).toMatchObject({ error: undefined });
  expect(await users()).toHaveLength(2);
});

test("within six minutes it stops, and goes on where it stopped", async () => {
  const { workspace, users } = await create();
  workspace.users = Array.from({ length: 160 }, (_, index) => userOf(`user-${index}`));
  // Ten requests a minute: a look-up and a POST for each person take half an hour.
  workspace.took = 60_000;
  const counts: number[] = [];
  for (let runs = 0; runs < 20; runs++) {
    const { error, minutes } = await workspace.run(runs === 0 ? "synchronize" : "goOn");
    expect(error).toBeUndefined();
    expect(minutes).toBeLessThan(6);
    counts.push((await users()).length);
    if (!workspace.triggers.has("goOn")) break;
    expect(workspace.triggers.get("goOn")).toBe(60_000);
  }
  expect(counts.at(-1)).toBe(160);
  expect(counts.length).toBeGreaterThan(2);
  expect(counts).toEqual([...counts].sort((one, other) => one - other));
});

test("a token that is refused ends the run at once, with what to do", async () => {
  const { workspace } = await create({ SCIM_TOKEN: "none" });
  workspace.users = Array.from({ length: 30 }, (_, index) => userOf(`user-${index}`));
  expect((await workspace.run()).error).toMatch(/^The directory refuses all requests: 401 \w+/);
  expect(workspace.requests.length).toBeLessThanOrEqual(10);
  expect(workspace.triggers.has("goOn")).toBe(false);
  expect((await workspace.run("install")).error).toMatch(/401/);
  expect(workspace.triggers.size).toBe(0);
});

test("another directory, and startOver, get everybody anew", async () => {
  const { workspace } = await create();
  const other = await createDirectory();
  workspace.users = [userOf("ada"), userOf("grace")];
  await workspace.run();
  await workspace.run("startOver");
  expect(workspace.requests.map(({ method }) => method).sort()).toEqual(["get", "get", "patch", "patch"]);
  workspace.properties.set("SCIM_TOKEN", other.token);
  workspace.properties.set("SCIM_URL", other.url);
  await workspace.run();
  expect(await other.list("/Users")).toHaveLength(2);
});

test("two runs at once are one", async () => {
  const { workspace, users } = await create();
  workspace.users = [userOf("ada")];
  workspace.isLocked = true;
  expect(await workspace.run()).toMatchObject({ error: undefined });
  expect(await users()).toEqual([]);
});
