/** Who may connect directories, and the limits of SCIM. */
import { expect, inject, test } from "vitest";
import { activity } from "../dashboard/activity.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { type Client, createClient } from "../service/client.ts";
import { readLogs } from "../service/local-stack.ts";
import { connected, scimClient } from "./connected.ts";

const errorSchema = "urn:ietf:params:scim:api:messages:2.0:Error";

const expectProblem = (
  { status, body, headers }: Awaited<ReturnType<Client["get"]>>,
  expected: number,
): void => {
  expect(status, JSON.stringify(body)).toBe(expected);
  expect(headers["content-type"]).toBe("application/scim+json");
  expect(body).toEqual({ schemas: [errorSchema], status: String(expected), detail: expect.any(String) });
};

test("discovery needs the token too, and refusals have SCIM's form", async () => {
  const { key, scim } = await connected();
  for (const path of ["/ServiceProviderConfig", "/ResourceTypes/User", "/Schemas", "/Users"]) {
    expect((await scim.get(path)).status).toBe(200);
    expectProblem(await scimClient(key).get(path), 401);
    expectProblem(await scimClient("bmd_made-up").get(path), 401);
    expectProblem(await scimClient("").get(path), 401);
  }
});

test("a replaced token ends at once, and the new one and its replacement are logged", async () => {
  const { dashboard, directoryId, scim, token, v1 } = await connected();
  const { body } = await dashboard.patch(`/directories/${directoryId}`, { newToken: true });
  expect(body.token).not.toBe(token);
  expectProblem(await scim.get("/Users"), 401);
  expect((await scimClient(body.token as string).get("/Users")).status).toBe(200);
  expect(await activity(v1, "directory.token_replaced")).toMatchObject([{ category: "api_keys" }]);
  expect(await activity(v1, "directory.connected")).toMatchObject([{ category: "monitoring" }]);
  const logs = await readLogs();
  for (const secret of [token, body.token as string]) expect(logs).not.toContain(secret);
});

test("members see directories without urls, and connect, change and remove none", async () => {
  const { id: org, dashboard, directoryId } = await connected();
  const { dashboard: member } = await signedIn(org, { role: "member" });
  const path = `/directories/${directoryId}`;
  const [seen] = await member.list("/directories");
  expect(seen).toMatchObject({ id: directoryId, name: "Entra" });
  expect(seen).not.toHaveProperty("url");
  expect((await dashboard.list("/directories"))[0].url).toMatch(/\/api\/scim\/v2$/);
  for (const refused of [
    await member.post("/directories", { name: "Mine" }),
    await member.patch(path, { newToken: true }),
    await member.delete(path),
  ])
    expect(refused.status).toBe(403);
});

test("a sixth directory is refused, and a place that is free again gets another token", async () => {
  const { dashboard, directoryId, token } = await connected();
  for (let count = 2; count <= 5; count++)
    expect((await dashboard.post("/directories", { name: `No. ${count}` })).status).toBe(201);
  expectRefusal(await dashboard.post("/directories", { name: "Sixth" }), 409, /already has 5/, {
    code: "directory_limit_reached",
  });
  expect((await dashboard.delete(`/directories/${directoryId}`)).status).toBe(200);
  const again = await dashboard.post("/directories", { name: "Again" });
  expect(again.status).toBe(201);
  expectProblem(await scimClient(token).get("/Users"), 401);
  expectRefusal(await dashboard.delete(`/directories/${directoryId}`), 404, /Directory not found/);
});

test("people of other organizations and directories are not found", async () => {
  const [one, other] = [await connected(), await connected()];
  const { body } = await one.scim.post("/Users", { userName: `ada@${one.domain}` });
  const second = await one.dashboard.post("/directories", { name: "Second" });
  for (const foreign of [other.scim, scimClient(second.body.token as string)]) {
    for (const answer of [
      await foreign.get(`/Users/${body.id}`),
      await foreign.put(`/Users/${body.id}`, { userName: "mine" }),
      await foreign.delete(`/Users/${body.id}`),
    ])
      expectProblem(answer, 404);
    const members = [{ value: body.id }];
    const group = await foreign.post("/Groups", { displayName: "All", members });
    expect(group).toMatchObject({ status: 400, body: { scimType: "invalidValue" } });
    expect((await foreign.get("/Users")).body.totalResults).toBe(0);
  }
  expect((await one.scim.get(`/Users/${body.id}`)).status).toBe(200);
});

test("an organization that is not served gets 402, and one that is deleted 401", async () => {
  const { id: org, scim } = await connected();
  await admin("org billing", { org, status: "subscription_inactive" });
  expectProblem(await scim.get("/Users"), 402);
  const gone = await connected();
  await admin("org delete", { org: gone.id, name: "Test" });
  expectProblem(await gone.scim.get("/Users"), 401);
});

test("beyond a hundred wrong tokens a minute an address gets 429, its right ones pass", async () => {
  const { token } = await connected();
  const client = createClient({}, new URL("/api/scim/v2", inject("apiUrl")).href);
  const ask = (bearer: string) =>
    client.request("GET", "/Users", { headers: { authorization: `Bearer ${bearer}` } });
  const statuses: number[] = [];
  for (let count = 0; count < 230 && !statuses.includes(429); count++)
    statuses.push((await ask("wrong")).status);
  expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(100);
  const refused = await ask("wrong");
  if (refused.status === 429) expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  expect(statuses.at(-1)).toBe(429);
  expect((await ask(token)).status).toBe(200);
});

test("bodies that are no JSON, no object or too large are refused", async () => {
  const { scim } = await connected();
  for (const raw of ["{", "[]", '"text"', ""]) {
    const { status, body } = await scim.request("POST", "/Users", { raw });
    expect({ status, scimType: body.scimType }).toEqual({ status: 400, scimType: "invalidSyntax" });
  }
  // Bytes of ISO 8859-1, as some scripts send them.
  const raw = Buffer.from('{"userName": "J\xfcrgen"}', "latin1");
  const damaged = await scim.request("POST", "/Users", { raw });
  expect(damaged).toMatchObject({ status: 400, body: { scimType: "invalidSyntax" } });
  expect((await scim.get("/Users")).body.totalResults).toBe(0);
  const large = { userName: "ada", title: "x".repeat(1024 * 1024) };
  expectProblem(await scim.post("/Users", large), 413);
  expectProblem(await scim.request("POST", "/Users/12", { raw: "{}" }), 405);
  expectProblem(await scim.get("/Nothing"), 404);
});
