/**
 * Why signing in by the identity provider failed: a refusal for the page, and a reason for the log (docs/operate.md).
 */
import * as oauth from "oauth4webapi";
import type { RefusalName } from "../../contract/errors.ts";

/** What is asked or read, in this order. A reason begins with it. */
type Step = "discovery" | "answer" | "client secret" | "token" | "keys" | "userinfo" | "claims";

/** `reason` holds neither a secret, a code, a token nor an address. */
export class ProviderFailure extends Error {
  readonly refusal: RefusalName;
  readonly reason: string;

  constructor(refusal: RefusalName, reason: string) {
    super("The identity provider failed");
    this.refusal = refusal;
    this.reason = reason;
  }
}

/** Names the step in the reason of what fails in it. */
export const step = async <T>(name: Step, act: () => Promise<T> | T): Promise<T> => {
  try {
    return await act();
  } catch (error) {
    const { refusal, reason } =
      error instanceof ProviderFailure ? error : { refusal: refusalOf(error), reason: reasonOf(error) };
    throw new ProviderFailure(refusal, `${name}: ${reason}`);
  }
};

/** A short word that somebody else has chosen, for the log. */
export const wordOf = (text: unknown): string => /^[\w. -]{1,60}$/.exec(String(text))?.[0] ?? "unknown";

/** Of the library's errors. Of others, which nobody expects, their code or name. */
type Details = {
  name: string;
  message: string;
  code?: string;
  cause?: { claim?: string; attribute?: string; alg?: string; header?: { alg?: string }; status?: number };
};

const byCode: Record<string, string> = {
  [oauth.KEY_SELECTION]: "no key",
  [oauth.PARSE_ERROR]: "not JSON",
  [oauth.RESPONSE_IS_NOT_JSON]: "not JSON",
  [oauth.HTTP_REQUEST_FORBIDDEN]: "not HTTPS",
  [oauth.REQUEST_PROTOCOL_FORBIDDEN]: "not HTTPS",
};

const reasonOf = (error: unknown): string => {
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError)
    return wordOf(error.error);
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const named = error.cause.map(({ parameters }) => parameters.error).find(Boolean);
    return wordOf(named ?? `HTTP ${error.status}`);
  }
  const { name, message, code = name, cause } = error as Details;
  if (code === oauth.RESPONSE_IS_NOT_CONFORM) return `HTTP ${cause?.status}`;
  const known = byCode[code];
  if (known !== undefined) return known;
  if (/^JWT signature/.test(message)) return "signature";
  if (/^JWE/.test(message)) return "encrypted";
  if (/^Invalid JWT/.test(message)) return "no JWT";
  if (/\balg\b|JWS alg/.test(message)) return wordOf(`algorithm ${cause?.alg ?? cause?.header?.alg}`);
  return wordOf(cause?.claim ?? cause?.attribute ?? named(message) ?? code);
};

/** The attribute, claim or parameter that the library's message quotes. */
const named = (message: string): string | undefined =>
  [...message.matchAll(/["`](\w+)["`]/g)].map(([, word]) => word).find((word) => word !== "response");

const refusalOf = (error: unknown): RefusalName => {
  if (error instanceof oauth.AuthorizationResponseError) return "providerRefused";
  if (error instanceof oauth.ResponseBodyError && error.error === "invalid_grant") return "attemptUnknown";
  const { code, message, cause } = error as Details;
  if (code === oauth.JWT_TIMESTAMP_CHECK) return "identityExpired";
  if (code === oauth.JWT_CLAIM_COMPARISON)
    return cause?.claim === "nonce" ? "attemptUnknown" : "identityForeign";
  const isForeign =
    code === oauth.KEY_SELECTION || /^unexpected "iss"|^JWT signature verification failed/.test(message);
  return isForeign ? "identityForeign" : "providerMalformed";
};
