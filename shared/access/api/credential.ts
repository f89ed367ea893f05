/** What a request brings to tell who it is from: an API key or a session cookie; and where it comes from. */
import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { isPlainHttp } from "../../contract/plain-http.ts";
import { apiKeyPrefix, readApiKey, readSession } from "../keys/secret.ts";
import { cookieName } from "./session-cookie.ts";

/** The headers of a request or authorizer event, whose names are in the client's case. */
export type Headers = { multiValueHeaders: Record<string, string[] | undefined> | null };

export const headerValues = (event: Headers, name: string): string[] =>
  Object.entries(event.multiValueHeaders ?? {})
    .filter(([header]) => header.toLowerCase() === name)
    .flatMap(([, values]) => values ?? []);

/** A well-formed key or session cookie; "none" if the request has no credential or a malformed one. */
export type Credential =
  | { kind: "key"; organizationId: number; hash: string }
  | { kind: "session"; organizationId: number; userId: number; hash: string }
  | "none";

/** A Bearer header alone decides, even an invalid one. Without one, or with another scheme, a cookie may. */
export const credentialOf = (event: Headers): Credential => {
  const authorization = headerValues(event, "authorization");
  if (!authorization.every(isOtherScheme)) {
    const [only, ...rest] = authorization;
    const [, key] = /^\s*bearer\s+(\S+)\s*$/i.exec(only ?? "") ?? [];
    const read = rest.length === 0 && key !== undefined ? readApiKey(key) : undefined;
    return read === undefined ? "none" : { kind: "key", ...read };
  }
  const cookie = cookieValue(event, cookieName());
  const read = cookie === undefined ? undefined : readSession(cookie);
  return read === undefined ? "none" : { kind: "session", ...read };
};

/**
 * Whether a header is empty or names another scheme than Bearer (RFC 9110, 11.6.2), such as a proxy's
 * `Basic`. A header that begins with a key, or has Bearer credentials behind other ones, is a mistake.
 */
const isOtherScheme = (value: string): boolean => {
  if (value.trim() === "") return true;
  const [, scheme] = /^ *([\w!#$%&'*+.^`|~-]+)(?: |$)/.exec(value) ?? [];
  if (scheme === undefined || /^bearer$/i.test(scheme) || scheme.startsWith(apiKeyPrefix)) return false;
  return !/,\s*bearer\s/i.test(value);
};

/** The value of the only cookie of this name. */
export const cookieValue = (event: Headers, name: string): string | undefined => {
  const values = headerValues(event, "cookie")
    .flatMap((header) => header.split(";"))
    .map(readCookie)
    .filter((cookie) => cookie.name === name && !/["\s]/.test(cookie.value))
    .map(({ value }) => value);
  return values.length === 1 ? values[0] : undefined;
};

/** No regular expression, since optional white space on both sides of the value would take quadratic time. */
const readCookie = (pair: string): { name: string; value: string } => {
  const equals = pair.indexOf("=");
  const value = pair.slice(equals + 1).trim();
  return {
    name: pair.slice(0, Math.max(0, equals)).trim(),
    value: value.replace(/^"/, "").replace(/"$/, ""),
  };
};

/** Against cross-site request forgery: a cookie changes something only in requests from the own origin. */
export const isOwnOrigin = (event: APIGatewayRequestAuthorizerEvent): boolean => {
  if (event.httpMethod === "GET") return true;
  if (headerValues(event, "sec-fetch-site").includes("same-origin")) return true;
  const [origin] = headerValues(event, "origin");
  return origin !== undefined && isOwn(event, origin);
};

/**
 * Whether a browser says that the request comes from another site. Browsers send `Origin` with every request
 * to another site that is no GET.
 */
export const isForeignOrigin = (event: APIGatewayRequestAuthorizerEvent): boolean => {
  if (event.httpMethod === "GET") return false;
  if (headerValues(event, "origin").some((origin) => !isOwn(event, origin))) return true;
  return headerValues(event, "sec-fetch-site").some((site) => site === "cross-site" || site === "same-site");
};

/**
 * The origin that the service has for the client: API Gateway lets no request through that names another host
 * than its own.
 */
export const ownOrigin = (event: Headers): string => {
  const [host = ""] = headerValues(event, "host");
  return `${isPlainHttp() ? "http" : "https"}://${host.toLowerCase()}`;
};

/** Where directories send their requests: SCIM's root in the stage of this request. */
export const scimUrlOf = (event: Headers & { requestContext: { stage: string } }): string =>
  `${ownOrigin(event)}/${event.requestContext.stage}/scim/v2`;

const isOwn = (event: Headers, origin: string): boolean => origin.toLowerCase() === ownOrigin(event);
