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

  test("is ignored beside a valid key, even of another organization", async () => {
    const [one, other] = await Promise.all([createOrganization(), createOrganization()]);
    const { cookie } = await signedIn(one.id);
    await other.api.post("/emails", { email: "ada@demo.example", domainId: other.domainId });
    const reply = await getWith({ authorization: `Bearer ${other.key}`, cookie });
    expect(reply).toMatchObject({ status: 200, body: { total: 1 } });
  });

  test("that is unknown, malformed or given twice is 401", async () => {
    const { id } = await createOrganization();
    const { cookie } = await signedIn(id);
    const unknown = [mintSession(id, 1), mintSession(987_654_321, 1)].map((value) => `session=${value}`);
    for (const value of [...unknown, `${cookie}x`]) expectUnauthenticated(await getWith({ cookie: value }));
    expectUnauthenticated(await getWith({ cookie: [cookie, cookie] }));
  });

  test("is refused at once when revoked, or when its user is removed", async () => {
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

describe("a request's headers", () => {
  const [key, session] = [mintApiKey(1), mintSession(1, 2)];
  const bearer = `Bearer ${key}`;
  const credentialIn = (authorization: string[], cookies: string[] = [`__Host-session=${session}`]) => {
    const credential = credentialOf({ multiValueHeaders: { Authorization: authorization, COOKIE: cookies } });
    return credential === "none" ? credential : credential.kind;
  };
  const replaced = (at: number) => key.slice(0, at) + (key[at] === "x" ? "y" : "x") + key.slice(at + 1);

  test("a Bearer key in any letter case counts before any cookie", () => {
    for (const header of [bearer, `bearer ${key}`, `BEARER ${key}`, `bEaReR    ${key}`, `${bearer}  `])
      expect([header, credentialIn([header])]).toEqual([header, "key"]);
  });

  test("a wrong or repeated Bearer header is 401, even with a cookie", () => {
    const wrong = [
      ...["Bearer", "Bearer ", "bearer  ", "Bearer x", "Bearer\tx", `${bearer}x`, bearer.slice(0, -1)],
      ...[`Bearer ${key.toLowerCase()}`, `Bearer ${key.slice(4)}`, `Bearer "${key}"`, `Bearer ${session}`],
      ...[`${bearer} ${key}`, `${bearer}, ${bearer}`, `Bearer ${bearer}`, `Basic x, ${bearer}`, "bearer, x"],
      ...[key, ` ${key}`, `${key} x`, `Bearer:${key}`, `Bearer: ${key}`, `bearer,${key}`, `"Bearer" ${key}`],
      ...["Basic: x", ", x"],
      // A character of the checksum, of the random part, of the organization's part is changed.
      ...[41, 20, 8].map((at) => `Bearer ${replaced(at)}`),
    ];
    for (const header of wrong) expect([header, credentialIn([header])]).toEqual([header, "none"]);
    for (const headers of [
      [bearer, bearer],
      ["Basic x", bearer],
      [bearer, "Basic x"],
      ["Basic x", key],
    ])
      expect([headers, credentialIn(headers)]).toEqual([headers, "none"]);
  });

  test("the cookie counts when alone and beside other schemes", () => {
    const others = [
      ...["", "Basic dXNlcjpwYXNz", "basic   dXNlcjpwYXNz", 'Digest username="ada", uri="/"', "Negotiate"],
      ...["AWS4-HMAC-SHA256 Credential=x", "Token x", 'Digest username="bms_admin"', "Basic ", "x"],
      ...[`Token ${key}`, `Basic ${key}`, "BearerToken x"],
    ];
    for (const header of others) expect([header, credentialIn([header])]).toEqual([header, "session"]);
    expect(credentialIn([])).toBe("session");
    expect(credentialIn(["Basic x", "Digest y"])).toBe("session");
    expect(credentialIn([`Token ${key}`], [])).toBe("none");
  });

  test("the cookie may be in quotes and between spaces, none within", () => {
    const named = (value: string) => credentialIn([], [`\ttheme=dark; __Host-session = ${value} `]);
    for (const value of [session, `"${session}"`, `"${session}`, `${session}"`, `${session}; a=b;`])
      expect([value, named(value)]).toEqual([value, "session"]);
    for (const other of ["a b", '"a"b']) expect(named(`${session}; __Host-session=${other}`)).toBe("session");
    for (const value of [`""${session}""`, `" ${session}"`, `${session} x`, `"${session}"x`, "", "x", key])
      expect([value, named(value)]).toEqual([value, "none"]);
    for (const value of [`${session}x`, session.slice(0, -1), `${session}; __Host-session=x`])
      expect([value, named(value)]).toEqual([value, "none"]);
    for (const name of ["__host-session", "x__Host-session"])
      expect(credentialIn([], [`${name}=${session}`])).toBe("none");
  });

  test.each([
    ["space in a value", `__Host-session=${" ".repeat(100_000)}a b`],
    ["space in a name", `${" ".repeat(100_000)}a b=`],
    ["quotes", `__Host-session=${'"'.repeat(100_000)}`],
    ["many cookies", "__Host-session=a b;".repeat(10_000)],
  ])("a cookie of hostile form takes linear time: %s", (_, cookie) => {
    const begun = process.cpuUsage();
    expect(credentialOf({ multiValueHeaders: { Cookie: [cookie] } })).toBe("none");
    // Milliseconds of computing, not of waiting. Quadratic time would be ten seconds.
    expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(2_000);
  });
});

describe("a session's origin", () => {
  const startScanWith = (headers: Record<string, string>) =>
    anonymous().request("POST", "/scans", { headers });
  test("must be the service's own except for GET, else 403", async () => {
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

  test("may be any for GET or with a key, and else the service's own", async () => {
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
