import { describe, expect, test } from "vitest";
import { credentialOf } from "../../shared/access/api/credential.ts";
import { hashOf, mintApiKey, mintSession } from "../../shared/access/keys/secret.ts";
import { type Key, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { anonymous, expectUnauthenticated, getWith, origin } from "./credentials.ts";
import { expectEveryHeader, expectRefusal } from "./reply.ts";

describe("a session cookie", () => {
  test("authenticates a request without an Authorization header", async () => {
    const { cookie } = await signedIn((await createOrganization()).id);
    for (const value of [cookie, `theme=dark; ${cookie}; a=b`, ` ${cookie} ;`]) {
      const reply = await getWith({ cookie: value });
      expect(reply.status).toBe(200);
      expectEveryHeader(reply);
    }
  });

  test("may be quoted and have spaces around it, but none of either within", async () => {
    const { cookie } = await signedIn((await createOrganization()).id);
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
  ])("of hostile form takes linear time: %s", (_, cookie) => {
    const begun = process.cpuUsage();
    expect(credentialOf({ multiValueHeaders: { Cookie: [cookie] } })).toBe("none");
    // Milliseconds of computing, not of waiting. Quadratic time would be ten seconds.
    expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(2_000);
  });

  test("authenticates beside an Authorization header of another scheme than Bearer", async () => {
    const organization = await createOrganization();
    const { cookie } = await signedIn(organization.id);
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

  test("does not count beside a Bearer or malformed Authorization header", async () => {
    const organization = await createOrganization();
    const { cookie } = await signedIn(organization.id);
    const { id: org, key, keyId } = organization;
    await admin("key revoke", { org, key: keyId });
    const values = [
      ...["Bearer", "Bearer x", "bearer  ", `Bearer ${key}`, `Bearer ${key}x`, `Bearer ${mintApiKey(org)}`],
      ...[key, ` ${key}`, `${key} x`, `Basic x, Bearer ${key}`, `Bearer:${key}`, `Bearer: ${key}`],
      ...[`bearer,${key}`, `"Bearer" ${key}`, "bearer, x", "Bearer\tx", "Basic: x", ", x"],
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
    const { cookie } = await signedIn(one.id);
    await other.api.post("/emails", { email: "ada@demo.example", domainId: other.domainId });
    const reply = await getWith({ authorization: `Bearer ${other.key}`, cookie });
    expect(reply).toMatchObject({ status: 200, body: { total: 1 } });
  });

  test("that is unknown, malformed, empty or given twice is 401", async () => {
    const organization = await createOrganization();
    const { cookie } = await signedIn(organization.id);
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

  test("that is revoked, or whose user was removed, fails the very next request", async () => {
    const organization = await createOrganization();
    const org = organization.id;
    const [one, other] = [await signedIn(organization.id), await signedIn(organization.id)];
    for (const { v1 } of [one, other]) expect((await v1.get("/emails")).status).toBe(200);
    await admin("session revoke", { org, session: one.sessionId });
    await admin("user remove", { org, user: other.userId, force: true });
    for (const { v1 } of [one, other]) expectUnauthenticated(await v1.get("/emails"));
  });

  test("and an API key are stored as hashes only", async () => {
    const organization = await createOrganization();
    const { id, key } = organization;
    const { cookie } = await signedIn(organization.id);
    const rows = await Promise.all(
      [keys.session(id, 0, ""), keys.apiKey(id, "")].map(({ pk }) => table.query<Key>({ pk })),
    );
    const session = cookie.slice("session=".length);
    expect(rows.flat().map(({ sk }) => sk.split("#").at(-1))).toEqual([hashOf(session), hashOf(key)]);
    const stored = JSON.stringify(rows);
    for (const secret of [session.slice(8), key.slice(12, 36)]) expect(stored).not.toContain(secret);
  });
});

describe("the origin of a request with a session cookie", () => {
  const startScanWith = (headers: Record<string, string>) =>
    anonymous().request("POST", "/scans", { headers });
  test("must be the service's own for methods other than GET, else 403 without effect", async () => {
    const { id, api, domainId } = await createOrganization();
    const { cookie } = await signedIn(id);
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

  test("may be the service's own, and does not matter for GET, nor with a key", async () => {
    const { id, key } = await createOrganization();
    const { cookie } = await signedIn(id);
    // 400 means that the request was accepted, but there is nothing to scan.
    expect((await startScanWith({ cookie, origin: origin() })).status).toBe(400);
    expect((await startScanWith({ cookie, "sec-fetch-site": "same-origin" })).status).toBe(400);
    const foreign = { cookie, origin: "https://attacker.example" };
    expect((await getWith(foreign)).status).toBe(200);
    expect((await startScanWith({ authorization: `Bearer ${key}`, ...foreign })).status).toBe(400);
  });
});
