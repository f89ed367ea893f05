/**
 * Asks the deployment's identity provider who somebody is: OpenID Connect's authorization code flow with PKCE
 * (OpenID Connect Core 1.0, RFC 7636, RFC 9207). The library does the checks of these documents. This file
 * builds the requests, and says what a failure means.
 */
import { randomBytes } from "node:crypto";
import type { Logger } from "@aws-lambda-powertools/logger";
import * as oauth from "oauth4webapi";
import { Refusal } from "../../contract/errors.ts";
import { isPlainHttp } from "../../contract/plain-http.ts";
import { readAtMost } from "../../contract/read-at-most.ts";
import { hashOf } from "../keys/secret.ts";
import { authenticationsFor, isClientRefused } from "./client-secret.ts";
import { addressOf, type Claims, checkRequired, tellAddress } from "./provider-claims.ts";
import { ProviderFailure, step, wordOf } from "./provider-failure.ts";
import { type ProviderSetting, providerSetting } from "./provider-setting.ts";

/** Of all requests to the provider that one request of the dashboard makes. */
const timeoutSeconds = 8;
const maximumBytes = 1_000_000;
/** The library fetches keys again after five minutes, and of an unknown key id at most once a minute. */
const metadataMilliseconds = 10 * 60_000;
const clockToleranceSeconds = 60;

/**
 * What an attempt to sign in has to prove follows from its secret, which only the browser's cookie keeps:
 * whoever knows the url of the attempt knows the hashes alone.
 */
export const stateOf = (secret: string): string => hashOf(`state ${secret}`);
const nonceOf = (secret: string): string => hashOf(`nonce ${secret}`);
/** RFC 7636, 4.2: the secret itself is the code verifier. */
const challengeOf = hashOf;

/** The page's, which hands what comes with it to `redeem-provider-code`. */
const redirectUri = (): string => `${process.env.DASHBOARD_URL}/sign-in`;

/** The url of the provider's page for a new attempt, and the attempt's secret. Refuses `noProvider`, and as `step`. */
export const begin = (
  logger: Logger,
  { chooseAccount = false }: { chooseAccount?: boolean | undefined } = {},
): Promise<{ url: string; secret: string }> =>
  withProvider(logger, async ({ server, client }) => {
    const secret = randomBytes(32).toString("base64url");
    const url = await step("discovery", () => pageOf(server));
    const parameters = {
      response_type: "code",
      client_id: client.client_id,
      redirect_uri: redirectUri(),
      scope: "openid email profile",
      state: stateOf(secret),
      nonce: nonceOf(secret),
      code_challenge: challengeOf(secret),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const prompt = chooseAccount && promptOf(server);
    if (prompt) url.searchParams.set("prompt", prompt);
    return { url: url.href, secret };
  });

/**
 * Whom the provider has signed in. A person is `issuer` and `subject`, which it gives to nobody else (OpenID Connect
 * Core 1.0, 5.7). `address` is the one that it vouches for, in no checked form.
 */
type Identified = { issuer: string; subject: string; address: string; name: unknown };

/**
 * Reads the parameters with which the provider led the browser back. Refuses `addressUnverified`, `claimRequired`, and
 * as `begin`.
 */
export const identify = (parameters: URLSearchParams, secret: string, logger: Logger): Promise<Identified> =>
  withProvider(logger, async (provider) => {
    const { server, client, options } = provider;
    const answer = await step("answer", () =>
      oauth.validateAuthResponse(server, client, parameters, stateOf(secret)),
    );
    const tokens = await redeem(provider, answer, secret);
    const identity = oauth.getValidatedIdTokenClaims(tokens) as oauth.IDToken;
    await step("claims", () => checkRequired(identity));
    // Many tell more only at their UserInfo endpoint (OpenID Connect Core 1.0, 5.4).
    const isAsked = !tellAddress(identity) && server.userinfo_endpoint !== undefined;
    const userInfo: Claims = isAsked
      ? await step("userinfo", async () => {
          const response = await oauth.userInfoRequest(server, client, tokens.access_token, options);
          return oauth.processUserInfoResponse(server, client, identity.sub, response);
        })
      : {};
    return {
      issuer: identity.iss,
      subject: identity.sub,
      address: await step("claims", () => addressOf([identity, userInfo])),
      name: userInfo.name ?? identity.name,
    };
  });

/** Redeems the code for tokens, and checks the ID token. */
const redeem = async (
  { server, client, options }: Provider,
  answer: URLSearchParams,
  secret: string,
): Promise<oauth.TokenEndpointResponse> => {
  const [usual, other] = await step("client secret", () => authenticationsFor(server));
  const ask = async (authentication: oauth.ClientAuth) => {
    const request = [server, client, authentication, answer, redirectUri(), secret, options] as const;
    const response = await oauth.authorizationCodeGrantRequest(...request);
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonceOf(secret),
      requireIdToken: true,
    });
    checkIssuedAt(oauth.getValidatedIdTokenClaims(tokens));
    return { response, tokens };
  };
  const { response, tokens } = await step("token", () =>
    ask(usual).catch((error: unknown) => {
      if (isClientRefused(error)) return ask(other);
      throw error;
    }),
  );
  await step("keys", () => oauth.validateApplicationLevelSignature(server, response, options));
  return tokens;
};

/** The library checks only that it is there. */
const checkIssuedAt = (identity?: oauth.IDToken): void => {
  if (identity === undefined || identity.iat > Date.now() / 1_000 + clockToleranceSeconds)
    throw new ProviderFailure("identityExpired", "iat");
};

/**
 * What lets people choose their account. Providers that list their prompts may have no account chooser. These
 * ask for the password instead, where most offer another account.
 */
const promptOf = ({ prompt_values_supported: known }: oauth.AuthorizationServer): string | undefined =>
  Array.isArray(known) ? ["select_account", "login"].find((each) => known.includes(each)) : "select_account";

/** Where the browser is sent to: no other scheme than of a page, whatever the provider says. */
const pageOf = ({ authorization_endpoint: endpoint = "" }: oauth.AuthorizationServer): URL => {
  const url = URL.parse(endpoint);
  const isPage = url?.protocol === "https:" || (isPlainHttp() && url?.protocol === "http:");
  if (url === null || !isPage) throw new ProviderFailure("providerMalformed", "authorization_endpoint");
  return url;
};

type Provider = {
  server: oauth.AuthorizationServer;
  client: oauth.Client;
  options: oauth.HttpRequestOptions<"GET" | "POST", URLSearchParams | undefined>;
};

/** Calls with the configuration and the secret for the provider. Logs why it failed, and refuses. */
const withProvider = async <T>(logger: Logger, ask: (provider: Provider) => Promise<T>): Promise<T> => {
  const setting = providerSetting();
  if (setting === undefined) throw new Refusal("noProvider");
  const options = {
    signal: AbortSignal.timeout(timeoutSeconds * 1_000),
    [oauth.customFetch]: send,
    // A deployed function asks by HTTPS alone, whatever the provider names.
    [oauth.allowInsecureRequests]: isPlainHttp(),
  };
  const client = { client_id: setting.clientId, [oauth.clockTolerance]: clockToleranceSeconds };
  try {
    const server = await step("discovery", () => discover(setting, options));
    return await ask({ server, client, options });
  } catch (error) {
    if (!(error instanceof ProviderFailure)) throw error;
    const { refusal, reason } = error;
    logger.warn("identity provider failed", { reason });
    throw new Refusal(refusal);
  }
};

let known: { server: oauth.AuthorizationServer; at: number } | undefined;

const discover = async (
  { issuer }: ProviderSetting,
  options: Provider["options"],
): Promise<oauth.AuthorizationServer> => {
  if (known === undefined || Date.now() - known.at > metadataMilliseconds) {
    const response = await oauth.discoveryRequest(issuer, options);
    known = { server: await oauth.processDiscoveryResponse(issuer, response), at: Date.now() };
  }
  return known.server;
};

/**
 * `fetch` for the library: an answer has an end and a size. Of what failed nothing is kept but its kind,
 * since messages can quote the url or the body.
 */
const send = async (
  url: string,
  init: oauth.CustomFetchOptions<string, URLSearchParams | undefined>,
): Promise<Response> => {
  try {
    const response = await fetch(url, init as RequestInit);
    const { status, headers } = response;
    if (status === 429 || status >= 500) throw new ProviderFailure("providerUnavailable", `HTTP ${status}`);
    const tooLarge = () => new ProviderFailure("providerMalformed", "too large");
    return new Response(await readAtMost(response, maximumBytes, tooLarge), { status, headers });
  } catch (error) {
    if (error instanceof ProviderFailure) throw error;
    const { name, cause } = error as Error & { cause?: { code?: unknown } };
    if (name === "TimeoutError") throw new ProviderFailure("providerSlow", name);
    throw new ProviderFailure("providerUnavailable", wordOf(cause?.code ?? name));
  }
};
