/** Every provider of the table, as its documents and public reports say that it behaves. */
import { readFileSync } from "node:fs";
import { Logger } from "@aws-lambda-powertools/logger";
import { PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { startParameterStore } from "../../alerting/parameter-store.ts";
import { type Habits, type IdentityProvider, startIdentityProvider } from "./identity-provider.ts";
import { type ProviderRow, providers } from "./providers.ts";

const dashboardUrl = "http://127.0.0.1:3000/api/app";
const parameter = "/breach-monitor/test/oidc-client-secret";
const page = readFileSync(new URL("../../../docs/identity-providers.md", import.meta.url), "utf8");

let provider: IdentityProvider;
let store: { close: () => Promise<void> };
beforeAll(async () => {
  store = await startParameterStore();
  provider = await startIdentityProvider();
  provider.redirectTo(`${dashboardUrl}/sign-in`);
  const { clientSecret: Value } = provider;
  await new SSMClient({}).send(new PutParameterCommand({ Name: parameter, Type: "SecureString", Value }));
});
afterAll(async () => {
  await provider.close();
  await store.close();
});

let lines: string[];
beforeEach(() => {
  vi.stubEnv("OIDC_ISSUER", provider.issuer);
  vi.stubEnv("OIDC_CLIENT_ID", provider.clientId);
  vi.stubEnv("OIDC_NAME", "Acme");
  vi.stubEnv("OIDC_CLIENT_SECRET_PARAMETER", parameter);
  vi.stubEnv("DASHBOARD_URL", dashboardUrl);
  vi.stubEnv("PLAIN_HTTP", "true");
  vi.resetModules();
  lines = [];
  vi.spyOn(process.stderr, "write").mockImplementation((line) => {
    lines.push(String(line));
    return true;
  });
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const takesClient = ({ takes }: ProviderRow): Habits["takesClient"] => {
  const { clientId, clientSecret } = provider;
  return (header) => {
    if (takes === "header") return header !== undefined;
    if (takes === "body") return header === undefined;
    return (
      takes === "either" || header === undefined || atob(header.slice(6)) === `${clientId}:${clientSecret}`
    );
  };
};

type Changes = Omit<Partial<ProviderRow["refused"][number]>, "who" | "reason">;

const signIn = async (row: ProviderRow, { idToken, userInfo, options, algorithm }: Changes = {}) => {
  const claims = { name: "Ada", ...row.idToken, ...idToken };
  const ofClient = JSON.parse(JSON.stringify(claims).replaceAll("CLIENT_ID", provider.clientId));
  provider.behave({
    person: { sub: row.sub, ...(userInfo ?? row.userInfo) },
    metadata: {
      authorization_response_iss_parameter_supported: row.namesItself,
      token_endpoint_auth_methods_supported: row.methods,
      id_token_signing_alg_values_supported: row.algorithms,
      ...row.metadata,
    },
    takesClient: takesClient(row),
    namesItself: row.namesItself ?? false,
    alter: (known) => ({ ...known, ...ofClient }),
    ...(algorithm && { algorithm }),
  });
  provider.asked = [];
  for (const [name, value] of Object.entries(options ?? row.options ?? {})) vi.stubEnv(name, value);
  const { begin, identify } = await import("../../../shared/access/sign-in/provider.ts");
  const { url, secret } = await begin(new Logger());
  return identify((await provider.visit(url)).searchParams, secret, new Logger());
};

describe.each(providers)("$name", (row) => {
  test("signs people in", async () => {
    expect(await signIn(row)).toEqual({
      issuer: provider.issuer,
      subject: row.sub,
      address: "ada@demo.example",
      name: "Ada",
    });
    const isTriedTwice = row.takes === "header" && row.methods?.includes("client_secret_post");
    expect(provider.asked.filter((path) => path === "/token")).toHaveLength(isTriedTwice ? 2 : 1);
    const isTold = (row.options?.OIDC_EMAIL_CLAIM ?? "email_verified") in row.idToken;
    expect(provider.asked.includes("/me")).toBe(row.userInfo !== undefined && !isTold);
    expect(lines).toEqual([]);
  });

  test.each(row.refused)("is refused: $who", async ({ who: _, reason, ...changes }) => {
    await expect(signIn(row, changes)).rejects.toMatchObject({ name: "Refusal" });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ reason }]);
  });

  test("has a section in the documents", () => {
    const [, section = ""] = page.split(`\n## ${row.name}\n`);
    const text = section.split("\n## ")[0];
    expect(text).toContain(`\`${row.issuer}\``);
    const { OIDC_EMAIL_CLAIM: claim, OIDC_REQUIRE: required } = row.options ?? {};
    if (claim !== undefined) expect(text).toContain(`oidcEmailClaim=${claim}`);
    if (required !== undefined) expect(text).toContain(`oidcRequire=${required.split("=")[0]}=`);
  });
});
