/** The script of docs/directory that reads Microsoft Graph, against the running service. */
import { execFile, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { createDirectory } from "./directory.ts";
import { startGraph, startProxy } from "./microsoft.ts";

const script = join(import.meta.dirname, "../../docs/directory/microsoft-graph/push_password_changes.py");
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const own = "urn:breach-monitor:scim:2.0:User";

/** As the module of that name in Azure Automation. */
const automationAssets = `
import json, os
class AutomationAssetNotFound(Exception): pass
PATH = os.environ["ASSETS"]
def read():
    with open(PATH) as file: return json.load(file)
def get_automation_variable(name):
    if name not in read(): raise AutomationAssetNotFound(name)
    return read()[name]
def set_automation_variable(name, value):
    variables = read()
    if name not in variables: raise AutomationAssetNotFound(name)
    with open(PATH, "w") as file: json.dump({**variables, name: value}, file)
`;

const create = async (names: readonly string[]) => {
  const directory = await createDirectory();
  for (const name of names)
    expect((await directory.scim("POST", "/Users", { userName: `${name}@demo.example` })).status).toBe(201);
  const graph = await startGraph();
  const proxy = await startProxy(directory.url);
  const folder = await mkdtemp(join(tmpdir(), "graph-"));
  const environment: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    SCIM_URL: proxy.url,
    SCIM_TOKEN: directory.token,
    TENANT_ID: "tenant",
    CLIENT_ID: "client",
    CLIENT_SECRET: "secret",
    GRAPH_URL: graph.url,
    LOGIN_URL: graph.url,
    STATE_FILE: join(folder, "state.json"),
    LONGEST_WAIT_SECONDS: "0.05",
  };
  const run = async (changed: Record<string, string> = {}) => {
    proxy.methods.length = 0;
    const env = { ...environment, ...changed };
    const { stdout, stderr, code } = await promisify(execFile)("python3", [script], { env }).then(
      (printed) => ({ ...printed, code: 0 }),
      (error) => error,
    );
    const error = String(stderr).trim().split("\n").at(-1) ?? "";
    return { code, error, counts: stdout === "" ? undefined : JSON.parse(stdout) };
  };
  const dates = async () =>
    Object.fromEntries(
      (await directory.list("/Users?count=200")).map((user) => [
        user.userName.split("@")[0],
        user[own]?.passwordChangedAt && new Date(user[own].passwordChangedAt).getTime(),
      ]),
    );
  return { ...directory, graph, proxy, folder, environment, run, dates };
};

const changedOf = (name: string, at: string | null) => ({
  userPrincipalName: `${name}@demo.example`,
  lastPasswordChangeDateTime: at,
});
const now = Date.now();
const daysAgo = (days: number): string =>
  new Date(now - days * 86_400_000).toISOString().replace(/\.\d+/, "");

describe.skipIf(!hasPython)("for Graph", () => {
  test("sets the date of everybody the directory knows, from all pages", async () => {
    const { graph, run, dates } = await create(["ada", "grace", "mary"]);
    const [first, second] = [daysAgo(400), daysAgo(30)];
    graph.users = [
      changedOf("Ada", first),
      changedOf("stranger", second),
      changedOf("grace", second.replace("Z", ".1234567Z")),
      changedOf("mary", null),
    ];
    graph.pageSize = 1;
    expect(await run()).toMatchObject({
      code: 0,
      counts: { "looked at": 3, pushed: 2, same: 0, unknown: 1 },
    });
    expect(graph.pages).toBe(4);
    expect(await dates()).toEqual({ ada: Date.parse(first), grace: Date.parse(second), mary: undefined });
  });

  test("then looks only at who changed the password, and at all after a week", async () => {
    const { graph, run, dates, proxy, environment, scim } = await create(["ada", "grace"]);
    graph.users = [
      changedOf("ada", daysAgo(400)),
      changedOf("grace", daysAgo(30)),
      changedOf("late", daysAgo(90)),
    ];
    await run();
    expect(proxy.methods.sort()).toEqual(["GET", "GET", "GET", "PATCH", "PATCH"]);
    // Of two days before the last change, what came late is found.
    expect(await run()).toMatchObject({ counts: { "looked at": 1, same: 1 } });
    graph.users[0] = changedOf("ada", daysAgo(1));
    expect(await run()).toMatchObject({ counts: { "looked at": 2, pushed: 1, same: 1 } });
    expect((await dates()).ada).toBe(Date.parse(daysAgo(1)));
    await scim("POST", "/Users", { userName: "late@demo.example" });
    expect(await run()).toMatchObject({ counts: { pushed: 0 } });
    const state = JSON.parse(await readFile(environment.STATE_FILE ?? "", "utf8"));
    await writeFile(environment.STATE_FILE ?? "", JSON.stringify({ ...state, fullAt: daysAgo(7) }));
    expect(await run()).toMatchObject({ counts: { "looked at": 3, pushed: 1, same: 2 } });
    expect((await dates()).late).toBe(Date.parse(daysAgo(90)));
  });

  test("at 429, 5xx and broken connections it waits and asks again", async () => {
    const names = Array.from({ length: 12 }, (_, index) => `user-${index}`);
    const { graph, run, dates, proxy } = await create(names);
    graph.users = names.map((name) => changedOf(name, daysAgo(40)));
    const faults = [{ status: 429, headers: { "Retry-After": "1" } }, { status: 0 }, { status: 503 }];
    const asked = new Map<string, number>();
    proxy.fault = ({ method, url }) => {
      const before = asked.get(`${method} ${url}`) ?? 0;
      asked.set(`${method} ${url}`, before + 1);
      return faults[before];
    };
    let read = 0;
    graph.fault = ({ url }) =>
      url?.startsWith("/v1.0") && read++ === 0 ? { status: 429, headers: { "Retry-After": "9" } } : undefined;
    expect(await run()).toMatchObject({ code: 0, counts: { pushed: 12 } });
    expect(Object.values(await dates())).toEqual(Array(12).fill(Date.parse(daysAgo(40))));
  });

  test("a person who goes on failing is named as such, and is tried again", async () => {
    const { graph, run, dates, proxy } = await create(["ada", "grace"]);
    graph.users = [changedOf("ada", daysAgo(40)), changedOf("grace", daysAgo(50))];
    proxy.fault = ({ url }) => (url?.includes("grace") ? { status: 500 } : undefined);
    expect(await run()).toMatchObject({
      code: 1,
      error: expect.stringMatching(/Refused: 1 people are tried again by the next run: GET 500/),
    });
    expect((await dates()).ada).toBeDefined();
    proxy.fault = () => undefined;
    expect(await run()).toMatchObject({ code: 0, counts: { pushed: 1, same: 1 } });
  });

  test("a refused token, app or plan ends it at once, without a date", async () => {
    const { graph, run, environment, proxy, dates } = await create(["ada"]);
    graph.users = Array.from({ length: 50 }, (_, index) => changedOf(`user-${index}`, daysAgo(9)));
    expect(await run({ SCIM_TOKEN: "none" })).toMatchObject({
      code: 1,
      error: expect.stringMatching(/The directory refuses all requests: 401 \w+/),
    });
    expect(proxy.methods.length).toBeLessThan(20);
    expect(await run({ CLIENT_SECRET: "wrong" })).toMatchObject({
      code: 1,
      error: expect.stringMatching(/No token for Microsoft Graph: 401 invalid_client/),
    });
    graph.fault = ({ url }) => (url?.startsWith("/v1.0") ? { status: 403 } : undefined);
    expect((await run()).error).toMatch(/Microsoft Graph does not list users: 403/);
    expect((await run({ SCIM_TOKEN: "" })).error).toMatch(/Set SCIM_URL and SCIM_TOKEN/);
    await expect(readFile(environment.STATE_FILE ?? "")).rejects.toThrow();
    expect(await dates()).toEqual({ ada: undefined });
  });

  test("the token goes nowhere else by a redirect", async () => {
    const { graph, run, proxy } = await create(["ada"]);
    graph.users = [changedOf("ada", daysAgo(9))];
    const elsewhere = await startProxy(proxy.url);
    proxy.fault = () => ({ status: 307, headers: { location: `${elsewhere.url}/Users` } });
    expect((await run()).error).toMatch(/GET 307/);
    expect(elsewhere.methods).toEqual([]);
  });

  test("in Azure Automation it is the managed identity, with its variables", async () => {
    const { graph, run, folder, proxy, token, dates } = await create(["ada"]);
    graph.users = [changedOf("ada", daysAgo(40))];
    await mkdir(join(folder, "modules"));
    await writeFile(join(folder, "modules/automationassets.py"), automationAssets);
    const assets = join(folder, "assets.json");
    await writeFile(assets, JSON.stringify({ SCIM_URL: proxy.url, SCIM_TOKEN: token, STATE: "{}" }));
    const automation = {
      PYTHONPATH: join(folder, "modules"),
      ASSETS: assets,
      IDENTITY_ENDPOINT: `${graph.url}/identity`,
      IDENTITY_HEADER: "identity",
      SCIM_URL: "",
      SCIM_TOKEN: "",
      CLIENT_SECRET: "",
    };
    expect(await run(automation)).toMatchObject({ code: 0, counts: { pushed: 1 } });
    expect((await dates()).ada).toBe(Date.parse(daysAgo(40)));
    const { STATE } = JSON.parse(await readFile(assets, "utf8"));
    expect(JSON.parse(STATE)).toMatchObject({ isComplete: true, url: proxy.url });
    expect(await run(automation)).toMatchObject({ code: 0, counts: { same: 1 } });
  });

  test("another directory gets everybody", async () => {
    const { graph, run } = await create(["ada"]);
    const other = await createDirectory();
    await other.scim("POST", "/Users", { userName: "grace@demo.example" });
    graph.users = [changedOf("ada", daysAgo(1)), changedOf("grace", daysAgo(400))];
    await run();
    expect(await run({ SCIM_URL: other.url, SCIM_TOKEN: other.token })).toMatchObject({
      code: 0,
      counts: { "looked at": 2, pushed: 1, unknown: 1 },
    });
  });
});
