import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { describe, expect, test } from "vitest";
import { authenticate } from "../../shared/access/api/authenticate.ts";
import { hashOf, mintApiKey, mintSession } from "../../shared/access/keys/secret.ts";
import { type Key, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { admin } from "../service/admin.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { anonymous, expectUnauthenticated, getWith, origin } from "./credentials.ts";
import { expectEveryHeader, expectRefusal } from "./reply.ts";
import { signIn } from "./sign-in.ts";

describe("a session cookie", () => {
  test("authenticates a request without an Authorization header", async () => {
    const { cookie } = await signIn(await createOrganization());
    for (const value of [cookie, `theme=dark; ${cookie}; a=b`, ` ${cookie} ;`]) {
      const reply = await getWith({ cookie: value });
      expect(reply.status).toBe(200);
      expectEveryHeader(reply);
    }
  });

  test("may be quoted and have spaces around it, but none of either within", async () => {
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
    expect(await authenticate(event as unknown as APIGatewayRequestAuthorizerEvent)).toMatchObject({
      refusal: "unauthenticated",
    });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });

  test("authenticates beside an Authorization header of another scheme than Bearer", async () => {
    const organization = await createOrganization();
    const { cookie } = await signIn(organization);
    for (const authorization of [
      "Basic dXNlcjpwYXNz",
      "basic   dXNlcjpwYXNz",
      'Digest username="ada", uri="/"',
      "AWS4-HMAC-SHA256 Credential=x",
      "Token x",
      'Digest username="bms_admin"',
      `Token ${organization.key}`,
      `Basic ${organization.key}`,
      "Negotiate",
      "Basic ",
      "BearerToken x",
      "x",
      "",
    ]) {
      expect((await getWith({ authorization, cookie })).status, authorization).toBe(200);
    }
    expect((await getWith({ authorization: ["Basic x", "Digest y"], cookie })).status).toBe(200);
  });

  test("does not count beside a Bearer header, which alone decides", async () => {
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

  test("does not count beside a malformed Authorization header", async () => {
    const organization = await createOrganization();
    const { cookie } = await signIn(organization);
    const { key } = organization;
    const values = [
      key,
      ` ${key}`,
      `${key} x`,
      `Basic x, Bearer ${key}`,
      `Bearer:${key}`,
      `Bearer: ${key}`,
      `bearer,${key}`,
      `"Bearer" ${key}`,
      "bearer, x",
      "Bearer\tx",
      "Basic: x",
      ", x",
    ];
    const replies = await Promise.all(values.map((authorization) => getWith({ authorization, cookie })));
    for (const [index, reply] of replies.entries()) {
      expect([values[index], reply.status]).toEqual([values[index], 401]);
      expectUnauthenticated(reply);
    }
    expectUnauthenticated(await getWith({ authorization: ["Basic x", key], cookie }));
  });

  test("does not count beside a valid key of another organization, which answers", async () => {
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
      `session=${mintSession(organization.id, 1)}`,
      `session=${mintSession(987_654_321, 1)}`,
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
    await admin("user remove", { org: organization.id, user: userId, force: true });
    expectUnauthenticated(await api.get("/emails"));
  });

  test("and an API key are stored as hashes only", async () => {
    const organization = await createOrganization();
    const { id, key } = organization;
    const { cookie } = await signIn(organization);
    const rows = await Promise.all(
      [keys.session(id, 0, ""), keys.apiKey(id, "")].map(({ pk }) => table.query<Key>({ pk })),
    );
    const session = cookie.slice("session=".length);
    expect(rows.flat().map(({ sk }) => sk.split("#").at(-1))).toEqual([hashOf(session), hashOf(key)]);
    const stored = JSON.stringify(rows);
    for (const secret of [session.slice(8), key.slice(12, 36)]) expect(stored).not.toContain(secret);
  });

  test("that has expired fails, though its row is still there", async () => {
    const organization = await createOrganization();
    const { api, cookie, userId } = await signIn(organization);
    const row = keys.session(organization.id, userId, hashOf(cookie.slice("session=".length)));
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

  test("must be the service's own for methods other than GET, else 403 without effect", async () => {
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
    // 400 means that the request was accepted, but there is nothing to scan.
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
