import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { describe, expect, inject, test } from "vitest";
import { authenticate } from "../../shared/api/authenticate.ts";
import { hashOf, mintApiKey, mintSession } from "../../shared/organizations/secret.ts";
import { type Key, keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import { admin, createClient, createOrganization, type Organization, type Reply } from "../service/client.ts";
import { expectEveryHeader, expectRefusal } from "./reply.ts";
import { signIn } from "./session.ts";
import { preview } from "./upload.ts";

const anonymous = () => createClient({});
const origin = () => new URL(inject("apiUrl")).origin;

/** GET /emails with exactly these headers. */
const getWith = (headers: Record<string, string | string[]>): Promise<Reply> =>
  anonymous().request("GET", "/emails", { headers });

const expectUnauthenticated = (reply: Reply): void => {
  expectRefusal(reply, 401, /API key or session/);
  expect(reply.headers["www-authenticate"]).toBe("Bearer");
};

describe("an API key", () => {
  test("is displayed once only, at creation", async () => {
    const { id: org, key } = await createOrganization();
    expect(key).toMatch(/^bms_[0-9A-Za-z]{38}$/);
    const listed = await admin("key list", { org });
    expect(JSON.stringify(listed)).not.toContain(key);
    expect(JSON.stringify(listed)).not.toContain(hashOf(key));
  });

  test("authenticates as its organization, with the same access as a user's session", async () => {
    const organization = await createOrganization();
    const { api, domainId } = organization;
    const user = await signIn(organization);
    await api.post("/emails", { email: "ada@demo.example", domainId });
    await user.api.post("/emails", { email: "alan@demo.example", domainId });
    for (const path of ["/emails", "/breaches", "/alert-configs", "/scans", "/activity"]) {
      const { retention: _, ...seen } = (await user.api.get(path)).body;
      expect((await api.get(path)).body).toMatchObject(seen);
    }
    const rows = (await preview(user.api, "grace@demo.example")).body;
    expect(rows).toEqual((await preview(api, "grace@demo.example")).body);
    expect((await user.api.post("/emails/import/commit", rows)).status).toBe(200);
    const config = { recipients: ["a@acme.example"] };
    const channel = await user.api.post("/alert-configs", { channel: "email", config });
    const path = `/alert-configs/${channel.body.id}`;
    expect((await api.patch(path, { isEnabled: false })).status).toBe(200);
    expect((await user.api.patch(path, { isEnabled: true })).status).toBe(200);
    expect((await user.api.delete(path)).status).toBe(200);
    expect((await user.api.get("/emails")).body.total).toBe(3);
  });

  test("has no scopes: two keys of one organization see and change the same", async () => {
    const { id: org, api, domainId } = await createOrganization();
    const second = await admin("key create", { org, label: "Second" });
    const { id } = (await api.post("/emails", { email: "ada@demo.example", domainId })).body;
    const other = createClient({ authorization: `Bearer ${second.key}` });
    expect((await other.delete(`/emails?id=${id}`)).status).toBe(200);
  });

  test("that is revoked fails the very next request; another of the organization still works", async () => {
    const { id: org, api, keyId } = await createOrganization();
    const second = await admin("key create", { org, label: "Second" });
    expect((await api.get("/emails")).status).toBe(200);
    await admin("key revoke", { org, key: keyId });
    expectUnauthenticated(await api.get("/emails"));
    expectUnauthenticated(await api.post("/scans"));
    expect((await getWith({ authorization: `Bearer ${second.key}` })).status).toBe(200);
  });

  test("of an organization that is being deleted fails", async () => {
    const organization = await createOrganization();
    const user = await signIn(organization);
    await admin("org delete", { org: organization.id, name: "Test" });
    expectUnauthenticated(await organization.api.get("/emails"));
    expectUnauthenticated(await user.api.get("/emails"));
  });

  test("is accepted with the scheme in any case and more than one space", async () => {
    const { key } = await createOrganization();
    for (const authorization of [`bearer ${key}`, `BEARER ${key}`, `bEaReR    ${key}`, `Bearer ${key}  `]) {
      expect((await getWith({ authorization })).status, authorization.slice(0, 12)).toBe(200);
    }
    expect((await getWith({ AUTHORIZATION: `Bearer ${key}` })).status).toBe(200);
  });

  test("that is malformed, unknown or not alone is 401", async () => {
    const { key, id } = await createOrganization();
    const replaced = (index: number) =>
      key.slice(0, index) + (key[index] === "x" ? "y" : "x") + key.slice(index + 1);
    const values = [
      "Bearer",
      "Bearer ",
      "Bearer x",
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key}x`,
      `Bearer ${key.toLowerCase()}`,
      `Bearer ${key.slice(4)}`,
      `Bearer "${key}"`,
      `Bearer ${key} ${key}`,
      `Bearer ${key}, Bearer ${key}`,
      `Bearer Bearer ${key}`,
      // Its checksum is wrong: in the checksum itself, in what is random, in the organization's part.
      `Bearer ${replaced(41)}`,
      `Bearer ${replaced(20)}`,
      `Bearer ${replaced(8)}`,
      // In the right form, but never created: of this organization, of one that is not there.
      `Bearer ${mintApiKey(id)}`,
      `Bearer ${mintApiKey(987_654_321)}`,
      `Bearer bms_${"0".repeat(38)}`,
      `Bearer ${mintSession(id)}`,
      `Bearer ${"x".repeat(5000)}`,
      key,
      `Token ${key}`,
      `Basic ${Buffer.from(`${key}:`).toString("base64")}`,
      "",
    ];
    const replies = await Promise.all(values.map((authorization) => getWith({ authorization })));
    for (const [index, reply] of replies.entries()) {
      expect([values[index]?.slice(0, 30), reply.status]).toEqual([values[index]?.slice(0, 30), 401]);
      expectUnauthenticated(reply);
    }
  });

  test("in a query parameter, a body or a cookie is no key", async () => {
    const { key } = await createOrganization();
    const api = anonymous();
    expectUnauthenticated(await api.get(`/emails?authorization=Bearer%20${key}&api_key=${key}`));
    expectUnauthenticated(await getWith({ cookie: `session=${key}` }));
    expectUnauthenticated(await getWith({ "x-api-key": key }));
  });

  test("sent in two Authorization headers is 401, also when both are right", async () => {
    const [one, other] = await Promise.all([createOrganization(), createOrganization()]);
    const { cookie } = await signIn(one);
    const [first, second] = [`Bearer ${one.key}`, `Bearer ${other.key}`];
    const basic = "Basic dXNlcjpwYXNz";
    for (const authorization of [
      [first, second],
      [first, first],
      [basic, first],
      [first, basic],
    ]) {
      expectUnauthenticated(await getWith({ authorization }));
      expectUnauthenticated(await getWith({ authorization, cookie }));
    }
  });
});

describe("no credentials", () => {
  test("every endpoint is 401 with WWW-Authenticate and the headers of every reply", async () => {
    const api = anonymous();
    const replies = await Promise.all([
      api.post("/scans"),
      api.get("/scans"),
      api.get("/emails"),
      api.post("/emails", { email: "ada@demo.example", domainId: 1 }),
      api.delete("/emails?id=1"),
      api.patch("/emails/1", { isActive: true }),
      api.get("/breaches"),
      api.post("/breaches/acknowledge", { id: 1 }),
      api.get("/alert-configs"),
      api.post("/alert-configs", { channel: "webhook", config: { url: "https://192.0.32.8/" } }),
      api.patch("/alert-configs/1", { isEnabled: false }),
      api.delete("/alert-configs/1"),
      api.get("/activity"),
      preview(api, "alan@demo.example"),
      api.post("/emails/import/commit", { emails: [], quote: {} }),
    ]);
    for (const reply of replies) expectUnauthenticated(reply);
  });
});

describe("a session cookie", () => {
  test("authenticates a request without an Authorization header", async () => {
    const { cookie } = await signIn(await createOrganization());
    for (const value of [cookie, `theme=dark; ${cookie}; a=b`, ` ${cookie} ;`]) {
      const reply = await getWith({ cookie: value });
      expect(reply.status).toBe(200);
      expectEveryHeader(reply);
    }
  });

  test("may stand in quotes, with space around its name and value; one that has more of either in it is no cookie", async () => {
    const { cookie } = await signIn(await createOrganization());
    const value = cookie.slice("session=".length);
    for (const form of [
      `"${value}"`,
      `"${value}`,
      `${value}"`,
      `${value}; session=a b`,
      `${value}; session="a"b`,
    ]) {
      expect([form, (await getWith({ cookie: `\tsession = ${form} ` })).status]).toEqual([form, 200]);
    }
    for (const form of [`""${value}""`, `" ${value}"`, `${value} x`, `"${value}"x`]) {
      expectUnauthenticated(await getWith({ cookie: `session=${form}` }));
    }
  });

  test.each([
    ["space in a value", `__Host-session=${" ".repeat(100_000)}a b`],
    ["space in a name", `${" ".repeat(100_000)}a b=`],
    ["quotes", `__Host-session=${'"'.repeat(100_000)}`],
    ["many cookies", "__Host-session=a b;".repeat(10_000)],
  ])("of hostile form takes linear time: %s", async (_, cookie) => {
    const event = {
      httpMethod: "GET",
      multiValueHeaders: { Cookie: [cookie] },
      requestContext: { identity: { sourceIp: "hostile cookies" } },
    };
    const startedAt = performance.now();
    expect(await authenticate(event as unknown as APIGatewayRequestAuthorizerEvent)).toBe("unauthenticated");
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test("authenticates beside an Authorization header that is not recognized as a key", async () => {
    const { cookie } = await signIn(await createOrganization());
    for (const authorization of [
      "Basic dXNlcjpwYXNz",
      "basic   dXNlcjpwYXNz",
      'Digest username="ada", uri="/"',
      "AWS4-HMAC-SHA256 Credential=x",
      "Token x",
      "",
    ]) {
      expect((await getWith({ authorization, cookie })).status, authorization).toBe(200);
    }
    expect((await getWith({ authorization: ["Basic x", "Digest y"], cookie })).status).toBe(200);
  });

  test("is never fallen back to from a Bearer header: it alone decides", async () => {
    const organization = await createOrganization();
    const { cookie } = await signIn(organization);
    const { id: org, key, keyId } = organization;
    await admin("key revoke", { org, key: keyId });
    for (const authorization of [
      "Bearer",
      "Bearer x",
      "bearer  ",
      `Bearer ${key}`,
      `Bearer ${key}x`,
      `Bearer ${mintApiKey(org)}`,
    ]) {
      expectUnauthenticated(await getWith({ authorization, cookie }));
    }
  });

  test("is never fallen back to from an Authorization header that is malformed: no other scheme with credentials", async () => {
    const organization = await createOrganization();
    const { cookie } = await signIn(organization);
    const { key } = organization;
    const values = [
      key,
      ` ${key}`,
      `${key} x`,
      `Token ${key}`,
      `Basic x, Bearer ${key}`,
      `Bearer:${key}`,
      `Bearer: ${key}`,
      `bearer,${key}`,
      `"Bearer" ${key}`,
      "bearer, x",
      "BearerToken x",
      "Bearer\tx",
      "Basic",
      "Basic ",
      "Basic: x",
      "x",
      ", x",
    ];
    const replies = await Promise.all(values.map((authorization) => getWith({ authorization, cookie })));
    for (const [index, reply] of replies.entries()) {
      expect([values[index], reply.status]).toEqual([values[index], 401]);
      expectUnauthenticated(reply);
    }
    expectUnauthenticated(await getWith({ authorization: ["Basic x", key], cookie }));
  });

  test("beside a right key of another organization does not count: the key's organization answers", async () => {
    const [one, other] = await Promise.all([createOrganization(), createOrganization()]);
    const { cookie } = await signIn(one);
    await other.api.post("/emails", { email: "ada@demo.example", domainId: other.domainId });
    const reply = await getWith({ authorization: `Bearer ${other.key}`, cookie });
    expect(reply).toMatchObject({ status: 200, body: { total: 1 } });
  });

  test("that is unknown, malformed, empty or given twice is 401", async () => {
    const organization = await createOrganization();
    const { cookie } = await signIn(organization);
    const values = [
      `session=${mintSession(organization.id)}`,
      `session=${mintSession(987_654_321)}`,
      "session=",
      "session",
      "session=x",
      `${cookie}x`,
      cookie.slice(0, -1),
      `Session=${cookie.slice("session=".length)}`,
      `xsession=${cookie.slice("session=".length)}`,
      `${cookie}; ${cookie}`,
      `${cookie}; session=x`,
    ];
    for (const value of values) expectUnauthenticated(await getWith({ cookie: value }));
    expectUnauthenticated(await getWith({ cookie: [cookie, cookie] }));
  });

  test("that is revoked fails the very next request", async () => {
    const organization = await createOrganization();
    const { api, sessionId } = await signIn(organization);
    expect((await api.get("/emails")).status).toBe(200);
    await admin("session revoke", { org: organization.id, session: sessionId });
    expectUnauthenticated(await api.get("/emails"));
  });

  test("of a user who was removed fails", async () => {
    const organization = await createOrganization();
    const { api, userId } = await signIn(organization);
    await admin("user remove", { org: organization.id, user: userId });
    expectUnauthenticated(await api.get("/emails"));
  });

  test("and a key's secret are stored as hashes only", async () => {
    const organization = await createOrganization();
    const { id, key } = organization;
    const { cookie } = await signIn(organization);
    const rows = await Promise.all(
      [keys.session(id, ""), keys.apiKey(id, "")].map(({ pk }) => table.query<Key>({ pk })),
    );
    const session = cookie.slice("session=".length);
    expect(rows.flat().map(({ sk }) => sk)).toEqual([hashOf(session), hashOf(key)]);
    const stored = JSON.stringify(rows);
    for (const secret of [session.slice(8), key.slice(12, 36)]) expect(stored).not.toContain(secret);
  });

  test("that has expired fails, though its row is still there", async () => {
    const organization = await createOrganization();
    const { api, cookie } = await signIn(organization);
    const row = keys.session(organization.id, hashOf(cookie.slice("session=".length)));
    const now = Math.floor(Date.now() / 1000);
    await table.update(row, { set: { expiresAt: now + 60 } });
    expect((await api.get("/emails")).status).toBe(200);
    await table.update(row, { set: { expiresAt: now - 1 } });
    expectUnauthenticated(await api.get("/emails"));
  });
});

describe("the origin of a request with a session cookie", () => {
  const startScanWith = (headers: Record<string, string>) =>
    anonymous().request("POST", "/scans", { headers });
  const create = async (): Promise<{ organization: Organization; cookie: string }> => {
    const organization = await createOrganization();
    return { organization, cookie: (await signIn(organization)).cookie };
  };

  test("other than GET must be the service's own, else 403 and nothing happens", async () => {
    const { organization, cookie } = await create();
    const { api, domainId } = organization;
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const forged: Record<string, string>[] = [
      {},
      { origin: "https://attacker.example" },
      { origin: "null" },
      { origin: `${origin()}.attacker.example` },
      { origin: `${origin()}/` },
      { origin: origin().replace("http:", "https:") },
      { origin: origin().replace(/:\d+$/, "") },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { origin: "https://attacker.example", "sec-fetch-site": "cross-site" },
      { referer: `${origin()}/` },
    ];
    const replies = await Promise.all(forged.map((headers) => startScanWith({ cookie, ...headers })));
    for (const [index, reply] of replies.entries()) {
      expect([forged[index], reply.status]).toEqual([forged[index], 403]);
      expectRefusal(reply, 403, /own origin/);
    }
    expect((await api.get("/scans")).body.total).toBe(0);
  });

  test("may be the service's own by Origin or by Sec-Fetch-Site", async () => {
    const { cookie } = await create();
    // 400: let in, but there is nothing to scan.
    expect((await startScanWith({ cookie, origin: origin() })).status).toBe(400);
    expect((await startScanWith({ cookie, "sec-fetch-site": "same-origin" })).status).toBe(400);
  });

  test("does not matter for GET, nor with a key", async () => {
    const { organization, cookie } = await create();
    expect((await getWith({ cookie, origin: "https://attacker.example" })).status).toBe(200);
    const authorization = `Bearer ${organization.key}`;
    expect((await startScanWith({ authorization, cookie, origin: "https://attacker.example" })).status).toBe(
      400,
    );
  });
});
