/** What is asked of an identity provider, and what its answers mean, against a certified one that runs here. */
import { createServer } from "node:http";
import { Logger } from "@aws-lambda-powertools/logger";
import { PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { startParameterStore } from "../../alerting/parameter-store.ts";
import { type IdentityProvider, startIdentityProvider } from "./identity-provider.ts";

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
  Object.assign(provider, {
    person: ada,
    alter: undefined,
    rewrite: undefined,
    metadata: {},
    takesClient: () => true,
    answer: undefined,
    asked: [],
  });
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
      subject: expect.stringMatching(/^[\da-f-]{36}$/),
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

  test("an ID token's address is not verified by what UserInfo says of another one", async () => {
    provider.alter = (claims) => ({ ...claims, email: "grace@demo.example" });
    expect(await signIn()).toMatchObject({ address: ada.email, name: "Ada" });
  });

  test("the url has a challenge, and hashes of the attempt's secret in place of it", async () => {
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

  test("a clock that is wrong by less than a minute makes no difference", async () => {
    const now = Math.floor(Date.now() / 1000);
    provider.alter = (claims) => ({ ...claims, exp: now - 50, nbf: now + 50 });
    expect(await signIn()).toMatchObject({ address: ada.email });
  });

  test("the claim that the operator names is the address, without email_verified", async () => {
    vi.stubEnv("OIDC_EMAIL_CLAIM", "preferred_username");
    provider.person = { ...ada, email_verified: undefined, preferred_username: "ada@entra.example" };
    expect(await signIn()).toMatchObject({ address: "ada@entra.example" });
    provider.person = { ...ada, preferred_username: undefined };
    expect(await signIn()).toMatchObject({ address: undefined });
    vi.stubEnv("OIDC_EMAIL_CLAIM", "email");
    provider.person = { ...ada, email_verified: false };
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

  test("is understood where the header is not decoded, if it has usual characters", async () => {
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

describe("an answer that is not for this attempt", () => {
  test.each([
    ["a foreign audience", { aud: "another-service" }, "identityForeign"],
    ["a further audience", { aud: ["breach-monitor", "another-service"] }, "identityForeign"],
    ["another issuer", { iss: "https://attacker.example" }, "identityForeign"],
    ["a wrong nonce", { nonce: "AAAA" }, "attemptUnknown"],
    ["no nonce", { nonce: undefined }, "providerMalformed"],
    ["an end more than a minute ago", { exp: Math.floor(Date.now() / 1000) - 90 }, "identityExpired"],
    ["no end", { exp: undefined }, "providerMalformed"],
    ["no subject", { sub: undefined }, "providerMalformed"],
  ])("%s", async (_, changed, name) => {
    provider.alter = (claims) => ({ ...claims, ...changed });
    await refused(name, signIn());
    expect(lines.join("\n")).toContain("identity provider failed");
  });

  const unsigned = (token: string) =>
    `${Buffer.from('{"alg":"none"}').toString("base64url")}.${token.split(".")[1]}.`;
  test.each([
    ["changed after it was signed", (token: string) => `${token.slice(0, -8)}AAAAAAAA`, "identityForeign"],
    ["not signed", unsigned, "providerMalformed"],
    ["no token at all", () => "text", "providerMalformed"],
  ])("an ID token that is %s", async (_, rewrite, name) => {
    provider.rewrite = rewrite;
    await refused(name, signIn());
  });

  test("mixed up with another provider, or without the issuer that this one always names", async () => {
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

  test("a code that was used already, or belongs to another attempt", async () => {
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

  test("UserInfo of somebody else", async () => {
    answer(/^\/me$/, JSON.stringify({ sub: "somebody-else", ...ada }));
    await refused("providerMalformed", signIn());
  });
});

test.each([{ email_verified: false }, { email_verified: undefined }, { email_verified: "true" }])(
  "an address with %j is not taken",
  async (changed) => {
    provider.person = { ...ada, ...changed };
    await refused("addressUnverified", signIn());
  },
);

test("whoever refuses at the provider is told so", async () => {
  provider.person = undefined;
  await refused("providerRefused", signIn());
  expect(lines.join("\n")).toContain("access_denied");
});

describe("a provider that does not work", () => {
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

  test("is slow: eight seconds are the limit of all its answers together", async () => {
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

  test("is not there", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    vi.stubEnv("OIDC_ISSUER", `http://127.0.0.1:${address.port}`);
    await refused("providerUnavailable", begin());
    expect(lines.join("\n")).toContain("ECONNREFUSED");
  });

  test("calls itself by another name, or has its page elsewhere than on the web", async () => {
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

describe("a deployed function", () => {
  test("asks no provider without HTTPS, and a provider that names such an endpoint", async () => {
    vi.stubEnv("PLAIN_HTTP", "");
    await refused("providerMalformed", begin());
    expect(provider.asked).toEqual([]);
  });

  test("refuses where none is set up", async () => {
    vi.stubEnv("OIDC_ISSUER", "");
    await refused("noProvider", begin());
  });
});
