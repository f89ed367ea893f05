/** Who may do what by SCIM: a token opens its own directory, and nothing else. */
import { expect, test } from "vitest";
import { dashboardUrl } from "../dashboard/signed-in.ts";
import { createClient } from "../service/client.ts";
import { connected, scimClient } from "./connected.ts";
import { createDirectory } from "./directory.ts";

const both = async () => {
  const first = await createDirectory();
  const created = await first.dashboard.post("/directories", { name: "Okta" });
  const second = scimClient(created.body.token as string);
  return { first, second, created: created.body };
};

test("a directory's token opens no other part of the API, and no other key opens SCIM", async () => {
  const { token, key, scim, dashboard } = await connected();
  expect((await scim.get("/Users")).status).toBe(200);
  for (const wrong of [key, token.slice(0, -1), `${token}0`, token.toUpperCase()])
    expect(await scimClient(wrong).get("/Users")).toMatchObject({
      status: 401,
      headers: { "www-authenticate": "Bearer" },
      body: { status: "401", detail: expect.any(String) },
    });
  const withToken = { authorization: `Bearer ${token}` };
  expect((await createClient(withToken).get("/emails")).status).toBe(401);
  expect((await createClient(withToken, dashboardUrl()).get("/directories")).status).toBe(401);
  expect((await dashboard.get("/directories")).status).toBe(200);
});

test("a directory sees and changes nothing of another one", async () => {
  const { first, second } = await both();
  const ada = (await first.scim("POST", "/Users", { userName: "ada@demo.example" })).body.id;
  const team = (await first.scim("POST", "/Groups", { displayName: "Engines", members: [{ value: ada }] }))
    .body.id;
  const set = { Operations: [{ op: "replace", path: "title", value: "Taken" }] };
  for (const path of [`/Users/${ada}`, `/Groups/${team}`]) {
    expect((await second.get(path)).status).toBe(404);
    expect((await second.patch(path, set)).status).toBe(404);
    expect((await second.put(path, { userName: "ada", displayName: "Engines" })).status).toBe(404);
    expect((await second.delete(path)).status).toBe(404);
  }
  const member = { displayName: "Others", members: [{ value: ada }] };
  expect(await second.post("/Groups", member)).toMatchObject({
    status: 400,
    body: { scimType: "invalidValue" },
  });
  for (const filter of [
    `id eq "${ada}"`,
    'userName eq "ada@demo.example"',
    'userName sw "a"',
    "active eq true",
  ])
    expect((await second.get(`/Users?filter=${encodeURIComponent(filter)}`)).body.totalResults).toBe(0);
  for (const filter of [`members.value eq "${ada}"`, 'displayName eq "Engines"', 'displayName co "gin"'])
    expect((await second.get(`/Groups?filter=${encodeURIComponent(filter)}`)).body.totalResults).toBe(0);
  // A name is taken in its own directory alone.
  expect((await second.post("/Users", { userName: "ada@demo.example" })).status).toBe(201);
  expect((await second.post("/Groups", { displayName: "Engines" })).status).toBe(201);
  const [user] = await first.list("/Users");
  expect(user).toMatchObject({ id: ada, groups: [{ value: team }] });
  expect(user.title).toBeUndefined();
});

test("what changes nothing leaves the time of the last change as it is", async () => {
  const { scim, list } = await createDirectory();
  const user = { userName: "ada@demo.example", title: "Analyst", emails: [{ value: "ada@demo.example" }] };
  const { id, meta } = (await scim("POST", "/Users", user)).body;
  const operations = [
    { op: "Replace", path: "title", value: "Analyst" },
    { op: "add", path: "emails", value: [{ value: "ada@demo.example" }] },
    { op: "remove", path: "displayName" },
    { op: "replace", path: "active", value: "True" },
    { op: "add", path: "nickName", value: "Countess" },
  ];
  expect((await scim("PATCH", `/Users/${id}`, { Operations: operations })).status).toBe(200);
  expect((await scim("PUT", `/Users/${id}`, user)).body.meta).toEqual(meta);
  expect((await list("/Users"))[0].meta).toEqual(meta);
});

test("pages of users are the same whichever size they have", async () => {
  const { scim, list } = await createDirectory();
  for (let index = 0; index < 7; index++)
    expect((await scim("POST", "/Users", { userName: `user-${index}` })).status).toBe(201);
  const namesOf = async (query: string) => (await list(`/Users?${query}`)).map(({ userName }) => userName);
  const all = await namesOf("count=200");
  expect(new Set(all).size).toBe(7);
  const paged: string[] = [];
  for (let from = 1; from <= 7; from += 3) paged.push(...(await namesOf(`startIndex=${from}&count=3`)));
  expect(paged).toEqual(all);
  expect(await namesOf("startIndex=8&count=3")).toEqual([]);
});
