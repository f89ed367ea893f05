/**
 * Asks the deployment's identity provider who somebody is: OpenID Connect's authorization code flow with PKCE (OpenID Connect
 * Core 1.0, RFC 7636, RFC 9207). The library checks what they ask to be checked; here is what is asked, and what a failure means.
 */
import { randomBytes } from "node:crypto";
import type { Logger } from "@aws-lambda-powertools/logger";
import { SSMProvider } from "@aws-lambda-powertools/parameters/ssm";
import * as oauth from "oauth4webapi";
import { shortTimeouts } from "../../aws/timeouts.ts";
import { Refusal, type RefusalName } from "../../contract/errors.ts";
import { isPlainHttp } from "../../contract/plain-http.ts";
import { readAtMost } from "../../contract/read-at-most.ts";
import { hashOf } from "../keys/secret.ts";
import { type ProviderSetting, providerSetting } from "./provider-setting.ts";

/** Of all requests to the provider that one request of the dashboard makes. */
const timeoutSeconds = 8;
const maximumBytes = 1_000_000;
/** The library fetches keys again after five minutes, and of an unknown key id at most once a minute. */
const metadataMilliseconds = 10 * 60_000;
const clientSecretSeconds = 300;
const clockToleranceSeconds = 60;

/**
 * What an attempt to sign in has to prove follows from its secret, which only the browser's cookie keeps: whoever knows the url of the
 * attempt knows the hashes alone.
 */
export const stateOf = (secret: string): string => hashOf(`state ${secret}`);
const nonceOf = (secret: string): string => hashOf(`nonce ${secret}`);
/** RFC 7636, 4.2: the secret itself is the code verifier. */
const challengeOf = hashOf;

/** The page's, which hands what comes with it to `redeem-provider-code`. */
const redirectUri = (): string => `${process.env.DASHBOARD_URL}/sign-in`;

/** The url of the provider's page for a new attempt, and the attempt's secret. Refuses `noProvider`, and those of `failureOf`. */
export const begin = (logger: Logger): Promise<{ url: string; secret: string }> =>
  withProvider(logger, async ({ server, client }) => {
    const secret = randomBytes(32).toString("base64url");
    const url = endpointOf(server);
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
    return { url: url.href, secret };
  });

/**
 * Whom the provider has signed in. A person is `issuer` and `subject`, which it gives to nobody else (OpenID Connect
 * Core 1.0, 5.7). `address` is the one that it vouches for, in no checked form.
 */
export type Identified = { issuer: string; subject: string; address: unknown; name: unknown };

/** Reads the parameters with which the provider led the browser back. Refuses `addressUnverified`, and as `begin`. */
export const identify = (parameters: URLSearchParams, secret: string, logger: Logger): Promise<Identified> =>
  withProvider(logger, async ({ server, client, options }) => {
    const answer = oauth.validateAuthResponse(server, client, parameters, stateOf(secret));
    const redeem = async (authentication: oauth.ClientAuth) => {
      const uri = redirectUri();
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        answer,
        uri,
        secret,
        options,
      );
      const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
        expectedNonce: nonceOf(secret),
        requireIdToken: true,
      });
      await oauth.validateApplicationLevelSignature(server, response, options);
      return tokens;
    };
    const [usual, other] = await authenticationsFor(server);
    const tokens = await redeem(usual).catch((error: unknown) => {
      if (isClientRefused(error)) return redeem(other);
      throw error;
    });
    const identity = oauth.getValidatedIdTokenClaims(tokens) as oauth.IDToken;
    // An operator who names a claim answers for it: some providers do not say whether an address is verified.
    const { OIDC_EMAIL_CLAIM: named } = process.env;
    const claim = named || "email";
    const isTold = claim in identity && (named || "email_verified" in identity);
    // Many tell more only at their UserInfo endpoint (OpenID Connect Core 1.0, 5.4).
    const asked =
      !isTold &&
      server.userinfo_endpoint !== undefined &&
      (await oauth.userInfoRequest(server, client, tokens.access_token, options));
    // What UserInfo says of an address goes last: its `email_verified` is about its own `email`.
    const claims: Record<string, unknown> = {
      ...identity,
      ...(asked && (await oauth.processUserInfoResponse(server, client, identity.sub, asked))),
    };
    const isVerified = named ? claims.email_verified !== false : claims.email_verified === true;
    if (!isVerified) throw new Refusal("addressUnverified");
    return { issuer: identity.iss, subject: identity.sub, address: claims[claim], name: claims.name };
  });

/** Where the browser is sent to: no other scheme than of a page, whatever the provider says. */
const endpointOf = ({ authorization_endpoint: endpoint = "" }: oauth.AuthorizationServer): URL => {
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

/** Calls with what is needed to ask the provider. Logs why it failed, and refuses. */
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
    return await ask({ server: await discover(setting, options), client, options });
  } catch (error) {
    if (error instanceof Refusal) throw error;
    const { refusal, reason } = failureOf(error);
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
 * `fetch` for the library: an answer has an end and a size. Of what failed nothing is kept but its kind, since messages can quote the
 * url or the body.
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

/**
 * How the client proves who it is. The secret is in the body where the provider takes it: some read the header as it
 * stands, and not as RFC 6749 (2.3.1) asks. The other way comes second: some advertise both, and take from each client
 * only the one that is set for it.
 */
const authenticationsFor = async ({
  token_endpoint_auth_methods_supported: methods,
}: oauth.AuthorizationServer): Promise<readonly [oauth.ClientAuth, oauth.ClientAuth]> => {
  const secret = await clientSecret();
  const [inBody, inHeader] = [oauth.ClientSecretPost(secret), basic(secret)];
  return methods?.includes("client_secret_post") ? [inBody, inHeader] : [inHeader, inBody];
};

/** The library encodes "-", "." and "_" too. As they are, also a provider that does not decode takes most secrets. */
const basic =
  (secret: string): oauth.ClientAuth =>
  (_, { client_id: id }, __, headers) => {
    const [user, password] = [id, secret].map((text) => new URLSearchParams({ text }).toString().slice(5));
    headers.set("authorization", `Basic ${btoa(`${user}:${password}`)}`);
  };

/** Providers tell that a code is bad only once they know the client. */
const isClientRefused = (error: unknown): boolean =>
  error instanceof oauth.WWWAuthenticateChallengeError ||
  (error instanceof oauth.ResponseBodyError && error.error !== "invalid_grant");

let parameters: SSMProvider | undefined;

const clientSecret = async (): Promise<string> => {
  parameters ??= new SSMProvider({ clientConfig: { maxAttempts: 3, requestHandler: shortTimeouts } });
  const name = process.env.OIDC_CLIENT_SECRET_PARAMETER ?? "";
  const stored = await parameters
    .get(name, { maxAge: clientSecretSeconds, decrypt: true })
    .catch((error: Error) => {
      throw new ProviderFailure(
        "providerMalformed",
        `client secret: ${wordOf((error.cause as Error)?.name)}`,
      );
    });
  const secret = String(stored ?? "").trim();
  if (secret === "") throw new ProviderFailure("providerMalformed", "client secret: none");
  return secret;
};

/** `reason` is for the log, and holds neither a secret, a code nor a token. */
class ProviderFailure extends Error {
  readonly refusal: RefusalName;
  readonly reason: string;

  constructor(refusal: RefusalName, reason: string) {
    super("The identity provider failed");
    this.refusal = refusal;
    this.reason = reason;
  }
}

/** A short word that somebody else has chosen, for the log. */
const wordOf = (text: unknown): string => /^[\w. -]{1,60}$/.exec(String(text))?.[0] ?? "unknown";

const failureOf = (error: unknown): { refusal: RefusalName; reason: string } => {
  if (error instanceof ProviderFailure) return error;
  if (error instanceof oauth.AuthorizationResponseError)
    return { refusal: "providerRefused", reason: wordOf(error.error) };
  if (error instanceof oauth.ResponseBodyError) {
    const refusal = error.error === "invalid_grant" ? "attemptUnknown" : "providerMalformed";
    return { refusal, reason: wordOf(error.error) };
  }
  const {
    name,
    code = name,
    message,
    cause,
  } = error as Error & { code?: string; cause?: { claim?: string } };
  const reason = wordOf([code, cause?.claim].filter(Boolean).join(" "));
  return { refusal: refusalOf(code, message, cause?.claim), reason };
};

const refusalOf = (code: string, message: string, claim: string | undefined): RefusalName => {
  if (code === oauth.JWT_TIMESTAMP_CHECK) return "identityExpired";
  if (code === oauth.JWT_CLAIM_COMPARISON) return claim === "nonce" ? "attemptUnknown" : "identityForeign";
  const isForeign =
    code === oauth.KEY_SELECTION || /^unexpected "iss"|^JWT signature verification failed/.test(message);
  return isForeign ? "identityForeign" : "providerMalformed";
};
