/** What is asked of an identity provider, and what its answers mean, against a certified one that runs here. */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Logger } from "@aws-lambda-powertools/logger";
import { PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { startParameterStore } from "../../alerting/parameter-store.ts";
import { type Habits, type IdentityProvider, startIdentityProvider } from "./identity-provider.ts";

const dashboardUrl = "http://127.0.0.1:3000/api/app";
const redirectUri = `${dashboardUrl}/sign-in`;
const parameter = "/breach-monitor/test/oidc-client-secret";

let provider: IdentityProvider;
let store: { close: () => Promise<void> };
beforeAll(async () => {
  store = await startParameterStore();
  provider = await startIdentityProvider();
  provider.redirectTo(redirectUri);
  await new SSMClient({}).send(
    new PutParameterCommand({ Name: parameter, Type: "SecureString", Value: `${provider.clientSecret}\n` }),
  );
});
afterAll(async () => {
  await provider.close();
  await store.close();
});

const ada = { email: "ada@demo.example", email_verified: true, name: "Ada" };
let lines: string[];
beforeEach(() => {
  provider.behave({ person: ada });
  provider.asked = [];
  vi.stubEnv("OIDC_ISSUER", provider.issuer);
  vi.stubEnv("OIDC_CLIENT_ID", provider.clientId);
  vi.stubEnv("OIDC_NAME", "Acme");
  vi.stubEnv("OIDC_CLIENT_SECRET_PARAMETER", parameter);
  vi.stubEnv("DASHBOARD_URL", dashboardUrl);
  vi.stubEnv("PLAIN_HTTP", "true");
  // As an instance of a function that has asked nothing yet.
  vi.resetModules();
  lines = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  // The log says why, and nothing that opens anything.
  for (const secret of provider.secrets) expect(lines.join("\n")).not.toContain(secret);
});

const load = () => import("../../../shared/access/sign-in/provider.ts");

const begin = async () => (await load()).begin(new Logger());
const identify = async (url: URL, secret: string) =>
  (await load()).identify(url.searchParams, secret, new Logger());
const signIn = async () => {
  const { url, secret } = await begin();
  return identify(await provider.visit(url), secret);
};
/** What the provider answers at a path instead of its answer. */
const answer = (path: RegExp, body: string, type = "application/json", status = 200): void => {
  provider.answer = {
    path,
    by: (_, response) => response.writeHead(status, { "content-type": type }).end(body),
  };
};
const refusal = (name: string) => expect.objectContaining({ name: "Refusal", refusal: name });
const refused = (name: string, act: Promise<unknown>) => expect(act).rejects.toEqual(refusal(name));

describe("success", () => {
  test("tells the address that the provider has verified", async () => {
    expect(await signIn()).toEqual({
      issuer: provider.issuer,
      subject: `account of ${ada.email}`,
      address: ada.email,
      name: "Ada",
    });
    // This provider tells an address at its UserInfo endpoint only.
    expect(provider.asked).toContain("/me");
    expect(lines).toEqual([]);
  });

  test("asks no UserInfo endpoint for an address that the ID token has", async () => {
    provider.alter = (claims) => ({ ...claims, ...ada });
    expect(await signIn()).toMatchObject({ address: ada.email, name: "Ada" });
    expect(provider.asked).not.toContain("/me");
  });

  test("UserInfo about another address does not verify the ID token's one", async () => {
    provider.alter = (claims) => ({ ...claims, email: "grace@demo.example" });
    expect(await signIn()).toMatchObject({ address: ada.email, name: "Ada" });
  });

  test("the url has a challenge and hashes, not the attempt's secret", async () => {
    const { url, secret } = await begin();
    const query = Object.fromEntries(new URL(url).searchParams);
    expect(query).toMatchObject({
      response_type: "code",
      scope: "openid email profile",
      code_challenge_method: "S256",
      redirect_uri: redirectUri,
    });
    const { state, nonce, code_challenge } = query;
    expect(new Set([state, nonce, code_challenge, secret]).size).toBe(4);
    expect(url).not.toContain(secret);
  });

  test.each([
    ["select_account", undefined],
    ["select_account", ["none", "login", "select_account"]],
    ["login", ["none", "login", "consent"]],
    [null, ["none"]],
    ["select_account", "login"],
  ])("asks to choose an account by prompt=%s where the provider knows %j", async (prompt, known) => {
    provider.metadata = { prompt_values_supported: known };
    const { begin } = await load();
    const promptIn = ({ url }: { url: string }) => new URL(url).searchParams.get("prompt");
    expect(promptIn(await begin(new Logger(), { chooseAccount: true }))).toBe(prompt);
    expect(promptIn(await begin(new Logger()))).toBe(null);
  });

  test("a clock that is wrong by less than a minute makes no difference", async () => {
    const now = Math.floor(Date.now() / 1000);
    provider.alter = (claims) => ({ ...claims, exp: now - 50, nbf: now + 50, iat: now + 50 });
    expect(await signIn()).toMatchObject({ address: ada.email });
  });

  test("the claim that the operator names is the address, without email_verified", async () => {
    vi.stubEnv("OIDC_EMAIL_CLAIM", "preferred_username");
    provider.person = { ...ada, email_verified: undefined, preferred_username: "ada@entra.example" };
    expect(await signIn()).toMatchObject({ address: "ada@entra.example" });
    for (const preferred_username of [undefined, ["ada@entra.example"]]) {
      provider.person = { ...ada, preferred_username };
      await refused("addressUnverified", signIn());
    }
    vi.stubEnv("OIDC_EMAIL_CLAIM", "constructor");
    await refused("addressUnverified", signIn());
  });

  test("a name of 10,000 characters does not keep anybody out", async () => {
    provider.person = { ...ada, name: "a".repeat(10_000) };
    expect(await signIn()).toMatchObject({ address: ada.email });
  });

  test("what is known of the provider is asked once in ten minutes", async () => {
    await begin();
    await begin();
    expect(provider.asked).toEqual(["/.well-known/openid-configuration"]);
  });
});

describe("the client's secret", () => {
  const both = ["client_secret_basic", "client_secret_post"];
  const [inHeader, inBody] = [(header?: string) => header !== undefined, (header?: string) => !header];
  /** Google and Entra compare what stands in the header, and do not decode it. */
  const asItStands = (header?: string) =>
    header === undefined || atob(header.slice(6)) === `${provider.clientId}:${provider.clientSecret}`;
  const tokenRequests = () => provider.asked.filter((path) => path === "/token");

  test.each([
    ["both, and does not decode the header", both, asItStands, 1],
    ["the header alone, encoded", ["client_secret_basic"], inHeader, 1],
    ["the body alone", ["client_secret_post"], inBody, 1],
    ["none, which means the header", undefined, inHeader, 1],
    ["both, where the client is set to the header", both, inHeader, 2],
    ["none, where the client is set to the body", undefined, inBody, 2],
  ])("reaches a provider that advertises %s", async (_, methods, takesClient, requests) => {
    provider.metadata = { token_endpoint_auth_methods_supported: methods };
    provider.takesClient = takesClient;
    expect(await signIn()).toMatchObject({ address: ada.email });
    expect(tokenRequests()).toHaveLength(requests);
  });

  test("of plain letters works where the header is not decoded", async () => {
    const Name = "/breach-monitor/test/usual";
    await new SSMClient({}).send(new PutParameterCommand({ Name, Type: "SecureString", Value: "a-b_c.9" }));
    vi.stubEnv("OIDC_CLIENT_SECRET_PARAMETER", Name);
    provider.metadata = { token_endpoint_auth_methods_supported: ["client_secret_basic"] };
    const headers: unknown[] = [];
    provider.takesClient = (header) => headers.push(header) === 0;
    await refused("providerMalformed", signIn());
    expect(headers).toEqual([`Basic ${btoa(`${provider.clientId}:a-b_c.9`)}`, undefined]);
  });

  test("is sent once for a code that the provider refuses", async () => {
    provider.metadata = { token_endpoint_auth_methods_supported: both };
    const { url, secret } = await begin();
    const back = await provider.visit(url);
    await identify(back, secret);
    provider.asked = [];
    await refused("attemptUnknown", identify(back, secret));
    expect(tokenRequests()).toHaveLength(1);
  });
});

describe("keys of the provider", () => {
  test("a new key is asked for once the known keys are a minute old", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    await signIn();
    provider.rotateKey();
    provider.asked = [];
    for (const _ of [1, 2]) await refused("identityForeign", signIn());
    expect(provider.asked).not.toContain("/jwks");
    vi.setSystemTime(Date.now() + 61_000);
    expect(await signIn()).toMatchObject({ address: ada.email });
    expect(provider.asked.filter((path) => path === "/jwks")).toHaveLength(1);
  });
});

describe("another attempt's answer", () => {
  test.each([
    ["a foreign audience", { aud: "another-service" }, "identityForeign"],
    ["a further audience", { aud: ["breach-monitor", "another-service"] }, "identityForeign"],
    ["another issuer", { iss: "https://attacker.example" }, "identityForeign"],
    ["a wrong nonce", { nonce: "AAAA" }, "attemptUnknown"],
    ["no nonce", { nonce: undefined }, "providerMalformed"],
    ["an end more than a minute ago", () => ({ exp: Math.floor(Date.now() / 1000) - 90 }), "identityExpired"],
    ["no end", { exp: undefined }, "providerMalformed"],
    [
      "a beginning in more than a minute",
      () => ({ iat: Math.floor(Date.now() / 1000) + 90 }),
      "identityExpired",
    ],
    ["a beginning in milliseconds", { iat: Date.now() }, "identityExpired"],
    ["no subject", { sub: undefined }, "providerMalformed"],
  ])("has %s", async (_, changed, name) => {
    // On a slow machine a time of the file's beginning may be long ago.
    provider.alter = (claims) => ({ ...claims, ...(typeof changed === "function" ? changed() : changed) });
    await refused(name, signIn());
    expect(lines.join("\n")).toContain("identity provider failed");
  });

  const unsigned = (token: string) =>
    `${Buffer.from('{"alg":"none"}').toString("base64url")}.${token.split(".")[1]}.`;
  test.each([
    ["changed after it was signed", (token: string) => `${token.slice(0, -8)}AAAAAAAA`, "identityForeign"],
    ["not signed", unsigned, "providerMalformed"],
    ["no token at all", () => "text", "providerMalformed"],
  ])("has an ID token that is %s", async (_, rewrite, name) => {
    provider.rewrite = rewrite;
    await refused(name, signIn());
  });

  test("comes from another provider, or lacks the usual issuer", async () => {
    const { url, secret } = await begin();
    const back = await provider.visit(url);
    back.searchParams.set("iss", "https://attacker.example");
    await refused("identityForeign", identify(back, secret));
    back.searchParams.delete("iss");
    await refused("providerMalformed", identify(back, secret));
    // The provider was not asked to redeem the code, which is still good.
    back.searchParams.set("iss", provider.issuer);
    expect(await identify(back, secret)).toMatchObject({ address: ada.email });
  });

  test("has a used code, or a code of another attempt", async () => {
    const { url, secret } = await begin();
    const back = await provider.visit(url);
    await identify(back, secret);
    await refused("attemptUnknown", identify(back, secret));
    const other = await begin();
    const stolen = await provider.visit((await begin()).url);
    const state = new URL(other.url).searchParams.get("state") ?? "";
    stolen.searchParams.set("state", state);
    await refused("attemptUnknown", identify(stolen, other.secret));
  });

  test("has the UserInfo of somebody else", async () => {
    answer(/^\/me$/, JSON.stringify({ sub: "somebody-else", ...ada }));
    await refused("providerMalformed", signIn());
  });
});

describe("verification", () => {
  const denials = [false, "false", "False", 0, 1, "1", "no", "", null, [], [true], {}, { value: true }];
  /** Where the provider tells it: in the ID token, or at its UserInfo endpoint. */
  const tells: [string, (verified: object) => void][] = [
    [
      "ID token",
      (verified) => provider.behave({ person: {}, alter: (claims) => ({ ...claims, email, ...verified }) }),
    ],
    ["UserInfo", (verified) => provider.behave({ person: { email, ...verified } })],
  ];
  const { email } = ada;

  describe.each(tells)("by %s", (_, tell) => {
    test.each([true, "true", "True", "TRUE"])("is true for %j", async (email_verified) => {
      tell({ email_verified });
      expect(await signIn()).toMatchObject({ address: email });
      vi.stubEnv("OIDC_EMAIL_CLAIM", "email");
      expect(await signIn()).toMatchObject({ address: email });
    });

    test.each(denials)("is false for %j, even if an operator vouches", async (email_verified) => {
      tell({ email_verified });
      await refused("addressUnverified", signIn());
      vi.stubEnv("OIDC_EMAIL_CLAIM", "email");
      await refused("addressUnverified", signIn());
    });

    test("is false if absent, unless an operator vouches", async () => {
      tell({});
      await refused("addressUnverified", signIn());
      expect(lines.join()).toContain("claims: email_verified absent");
      vi.stubEnv("OIDC_EMAIL_CLAIM", "email");
      expect(await signIn()).toMatchObject({ address: email });
    });
  });

  test("is false if one of the two says so, whatever the other says", async () => {
    const alter = (claims: object) => ({ ...claims, email_verified: false });
    provider.behave({ person: ada, alter });
    await refused("addressUnverified", signIn());
    vi.stubEnv("OIDC_EMAIL_CLAIM", "email");
    provider.behave({ person: { email }, alter });
    await refused("addressUnverified", signIn());
  });

  test("of one address says nothing about another", async () => {
    provider.behave({ person: { email }, alter: (claims) => ({ ...claims, email_verified: true }) });
    await refused("addressUnverified", signIn());
  });
});

describe("a required claim", () => {
  const having = (claims: object) =>
    provider.behave({ person: ada, alter: (known) => ({ ...known, ...claims }) });

  test.each([
    ["hd=acme.com", { hd: "acme.com" }],
    ["groups=staff", { groups: ["all", "staff"] }],
    ["acct=0", { acct: 0 }],
    ["xms_edov=true", { xms_edov: true }],
    ["query=a=b", { query: "a=b" }],
  ])("%s lets in whoever has %j", async (required, claims) => {
    vi.stubEnv("OIDC_REQUIRE", required);
    having(claims);
    expect(await signIn()).toMatchObject({ address: ada.email });
  });

  test.each([
    {},
    { hd: "ACME.com" },
    { hd: "acme.com.attacker.example" },
    { hd: "" },
    { hd: null },
    { hd: ["other.example"] },
    { hd: [["acme.com"]] },
    { hd: { "acme.com": true } },
  ])("refuses whoever has %j, before more is asked", async (claims) => {
    vi.stubEnv("OIDC_REQUIRE", "hd=acme.com");
    having(claims);
    await refused("claimRequired", signIn());
    expect(lines.join()).toContain("claims: oidcRequire hd");
    expect(provider.asked).not.toContain("/me");
  });

  test("is not taken from UserInfo, nor found in what every object has", async () => {
    vi.stubEnv("OIDC_REQUIRE", "preferred_username=ada");
    provider.behave({
      person: { ...ada, preferred_username: "ada" },
      alter: ({ preferred_username: _, ...rest }) => rest,
    });
    await refused("claimRequired", signIn());
    vi.stubEnv("OIDC_REQUIRE", "__proto__=[object Object]");
    await refused("claimRequired", signIn());
  });
});

test("whoever refuses at the provider is told so", async () => {
  provider.person = undefined;
  await refused("providerRefused", signIn());
  expect(lines.join("\n")).toContain("access_denied");
});

describe("a broken provider", () => {
  const html = "<!doctype html><title>Maintenance</title>";
  const paths = ["/.well-known/openid-configuration", "/token", "/jwks", "/me"];

  test.each(paths)("answers %s with HTML", async (path) => {
    answer(new RegExp(`^${path}$`), html, "text/html");
    await refused("providerMalformed", signIn());
    expect(lines.join("\n")).not.toContain("Maintenance");
  });

  test.each(paths)("breaks off at %s", async (path) => {
    provider.answer = { path: new RegExp(`^${path}$`), by: (request) => request.socket.destroy() };
    await refused("providerUnavailable", signIn());
  });

  test("answers 503, 429, a redirect, or without an end", async () => {
    const path = /^\/token$/;
    for (const status of [503, 429]) {
      answer(path, "{}", "text/plain", status);
      await refused("providerUnavailable", signIn());
    }
    const location = "https://elsewhere.example/";
    provider.answer = { path, by: (_, response) => response.writeHead(302, { location }).end("{}") };
    await refused("providerMalformed", signIn());
    answer(path, " ".repeat(1_100_000));
    await refused("providerMalformed", signIn());
  });

  test("is slow: all its answers together may take eight seconds", async () => {
    const { url, secret } = await begin();
    const back = await provider.visit(url);
    const timeout = AbortSignal.timeout;
    const limits = vi
      .spyOn(AbortSignal, "timeout")
      .mockImplementation((ms) => timeout.call(AbortSignal, ms / 10));
    provider.answer = { path: /^\/token$/, by: () => {} };
    await refused("providerSlow", identify(back, secret));
    expect(limits.mock.calls).toEqual([[8_000]]);
  });

  test("cannot be reached", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    vi.stubEnv("OIDC_ISSUER", `http://127.0.0.1:${address.port}`);
    await refused("providerUnavailable", begin());
    expect(lines.join("\n")).toContain("ECONNREFUSED");
  });

  test("has another name, or a sign-in page that is no web address", async () => {
    const known = { issuer: provider.issuer, authorization_endpoint: `${provider.issuer}/auth` };
    for (const changed of [
      { issuer: "https://login.example/{tenantid}/v2.0" },
      { issuer: "none" },
      { authorization_endpoint: "javascript:alert(1)" },
      { authorization_endpoint: undefined },
    ]) {
      answer(/well-known/, JSON.stringify({ ...known, ...changed }));
      vi.resetModules();
      await refused("providerMalformed", begin());
    }
  });

  test("does not take this service's secret, or there is none", async () => {
    vi.stubEnv("OIDC_CLIENT_SECRET_PARAMETER", "/breach-monitor/test/none");
    await refused("providerMalformed", signIn());
    expect(lines.join("\n")).toContain("client secret: ParameterNotFound");
    const Name = "/breach-monitor/test/wrong";
    await new SSMClient({}).send(new PutParameterCommand({ Name, Type: "SecureString", Value: "wrong" }));
    vi.stubEnv("OIDC_CLIENT_SECRET_PARAMETER", Name);
    await refused("providerMalformed", signIn());
  });
});

describe("the reason in the log", () => {
  const operate = readFileSync(new URL("../../../docs/operate.md", import.meta.url), "utf8");
  const [, table = ""] = /\n\| `reason` \| Means \|\n(.*?)\n\n/s.exec(operate) ?? [];
  const documented = table
    .split("\n")
    .flatMap((row) => row.split(" | ")[0]?.match(/(?<=`)[^`]+: [^`]+(?=`)/g) ?? []);
  const answering = (path: RegExp, status: number, body = "{}", type = "application/json", headers = {}) => ({
    answer: {
      path,
      by: (_: IncomingMessage, response: ServerResponse) =>
        response.writeHead(status, { "content-type": type, ...headers }).end(body),
    },
  });
  const breaking = (path: RegExp) => ({
    answer: { path, by: ({ socket }: IncomingMessage) => socket.destroy() },
  });
  const claims = (changed: object): Partial<Habits> => ({ alter: (known) => ({ ...known, ...changed }) });
  const [document, token, keys, userInfo] = [/well-known/, /^\/token$/, /^\/jwks$/, /^\/me$/];

  const rows: [reason: string, habits: () => Partial<Habits>, environment?: Record<string, string>][] = [
    ["discovery: UND_ERR_SOCKET", () => breaking(document)],
    ["token: HTTP 503", () => answering(token, 503)],
    ["discovery: HTTP 404", () => answering(document, 404)],
    ["discovery: not JSON", () => answering(document, 200, "<!doctype html>", "text/html")],
    ["discovery: issuer", () => ({ metadata: { issuer: `${provider.issuer}/realms/acme` } })],
    ["discovery: not HTTPS", () => ({}), { PLAIN_HTTP: "" }],
    ["discovery: authorization_endpoint", () => ({ metadata: { authorization_endpoint: undefined } })],
    ["token: token_endpoint", () => ({ metadata: { token_endpoint: undefined } })],
    ["keys: jwks_uri", () => ({ metadata: { jwks_uri: undefined } })],
    [
      "client secret: ParameterNotFound",
      () => ({}),
      { OIDC_CLIENT_SECRET_PARAMETER: "/breach-monitor/test/none" },
    ],
    ["token: invalid_client", () => ({ takesClient: () => false })],
    ["token: algorithm HS256", () => ({ algorithm: "HS256" })],
    [
      "keys: algorithm HS256",
      () => ({ algorithm: "HS256", metadata: { id_token_signing_alg_values_supported: ["HS256", "RS256"] } }),
    ],
    ["token: encrypted", () => ({ rewrite: (text) => `${text}.AAAA.AAAA` })],
    ["token: no JWT", () => ({ rewrite: () => "text" })],
    ["token: refresh_token", () => ({ reply: { refresh_token: null } })],
    ["token: id_token", () => ({ reply: { id_token: undefined } })],
    ["token: token_type", () => ({ reply: { token_type: "mac" } })],
    ["userinfo: sub", () => answering(userInfo, 200, '{"sub":"somebody else"}')],
    ["userinfo: HTTP 403", () => answering(userInfo, 403)],
    [
      "userinfo: invalid_token",
      () => answering(userInfo, 401, "{}", undefined, { "www-authenticate": 'Bearer error="invalid_token"' }),
    ],
    ["keys: HTTP 404", () => answering(keys, 404)],
    ["keys: signature", () => ({ rewrite: (text) => `${text.slice(0, -8)}AAAAAAAA` })],
    ["keys: no key", () => answering(keys, 200, '{"keys":[]}')],
    ["token: exp", () => claims({ exp: 1 })],
    ["token: iat", () => claims({ iat: Date.now() })],
    ["token: aud", () => claims({ aud: "another-service" })],
    ["token: iss", () => claims({ iss: "https://attacker.example" })],
    ["token: nonce", () => claims({ nonce: "AAAA" })],
    ["token: invalid_grant", () => answering(token, 400, '{"error":"invalid_grant"}')],
    ["answer: iss", () => ({ namesItself: false })],
    ["answer: access_denied", () => ({ person: undefined })],
    ["claims: email absent", () => ({ person: {} })],
    ["claims: email_verified absent", () => ({ person: { email: ada.email } })],
    ["claims: email_verified false", () => ({ person: { ...ada, email_verified: false } })],
    ["claims: oidcRequire hd", () => ({}), { OIDC_REQUIRE: "hd=acme.com" }],
  ];

  test.each(rows)(
    "is %s, which operators find in the documents",
    async (reason, habits, environment = {}) => {
      provider.behave({ person: ada, ...habits() });
      for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
      await expect(signIn()).rejects.toMatchObject({ name: "Refusal" });
      const told = lines.map((line) => JSON.parse(line)).filter(({ message }) => message !== undefined);
      expect(told).toMatchObject([{ message: "identity provider failed", reason }]);
      expect(documented).toContain(reason);
    },
  );

  test("is one of these, if it is in the documents", () => {
    // The first needs a slow provider (above), the second an address that is none
    // (test/service/single-sign-on.test.ts).
    const others = ["token: TimeoutError", "claims: no e-mail address"];
    expect(documented.toSorted()).toEqual([...others, ...rows.map(([reason]) => reason)].toSorted());
  });
});

describe("a deployed function", () => {
  test("asks no provider whose endpoints lack HTTPS", async () => {
    vi.stubEnv("PLAIN_HTTP", "");
    await refused("providerMalformed", begin());
    expect(provider.asked).toEqual([]);
  });

  test("refuses everybody if no provider is set up", async () => {
    vi.stubEnv("OIDC_ISSUER", "");
    await refused("noProvider", begin());
  });
});
