import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { lapse } from "../billing/billing.ts";
import type { ApiKey } from "../organizations/api-key.ts";
import type { Organization } from "../organizations/organization.ts";
import { apiKeyPrefix, readApiKey, readSession } from "../organizations/secret.ts";
import type { Session } from "../organizations/session.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import * as limits from "./limits.ts";
import type { GatewayRefusal, Principal } from "./principal.ts";

/** What a request presents: a secret in the right form, or something that cannot authenticate. */
type Credential = { kind: "key" | "session"; organizationId: number; hash: string } | "none";

/**
 * Decides who a request is from (interface.md "Authentication", decisions.md "Order of checks"): address limit, then
 * authentication, then key limit, origin and subscription. One parallel trip: the reads together, and at most two counts;
 * only what the address limit refuses takes another, since it must not count for the key, or none, once the address is
 * known to be refused. "unauthenticated" becomes the gateway's 401.
 */
export const authenticate = async (
  event: APIGatewayRequestAuthorizerEvent,
  now: Date = new Date(),
): Promise<Principal | GatewayRefusal | "unauthenticated"> => {
  const { sourceIp } = event.requestContext.identity;
  const refusedSeconds = limits.secondsRefused(sourceIp, now);
  if (refusedSeconds > 0) return { refusal: "addressLimit", retryAfterSeconds: refusedSeconds };

  const credential = credentialOf(event);
  const keyHash = credential !== "none" && credential.kind === "key" ? credential.hash : undefined;
  const [addressSeconds, keySeconds, [row, owner]] = await Promise.all([
    limits.countAddress(sourceIp, now),
    keyHash === undefined ? 0 : limits.countKey(keyHash, now),
    credential === "none" ? [] : rowsOf(credential),
  ]);

  if (addressSeconds > 0) {
    // Without it the key has one request less in this minute; the answer is the same.
    if (keyHash !== undefined) await limits.uncountKey(keyHash, now).catch(() => {});
    return { refusal: "addressLimit", retryAfterSeconds: addressSeconds };
  }
  if (credential === "none" || row === undefined || owner === undefined || owner.deleting === true) {
    return "unauthenticated";
  }
  const actor = actorOf(row, now);
  if (actor === undefined) return "unauthenticated";
  if (keySeconds > 0) return { refusal: "keyLimit", retryAfterSeconds: keySeconds };
  if (credential.kind === "session" && !isOwnOrigin(event)) return { refusal: "foreignOrigin" };
  const lapsed = lapse(owner.billing, now);
  if (lapsed !== undefined) return { refusal: lapsed };
  return { organizationId: owner.id, actor };
};

/** The secret's row and its organization's, in one request. */
const rowsOf = async (credential: Exclude<Credential, "none">) => {
  const { kind, organizationId, hash } = credential;
  const key = kind === "key" ? keys.apiKey(organizationId, hash) : keys.session(organizationId, hash);
  const rows = await table.getMany([key, keys.organization(organizationId)]);
  return rows as [(ApiKey | Session)?, Organization?];
};

const actorOf = (row: ApiKey | Session, now: Date): Principal["actor"] | undefined => {
  if ("userId" in row) {
    // The row may outlive its time: DynamoDB deletes expired rows when it likes.
    return row.expiresAt * 1000 > now.getTime()
      ? { type: "user", id: row.userId, label: row.userLabel }
      : undefined;
  }
  return row.revokedAt === null ? { type: "api_key", id: row.id, label: row.label } : undefined;
};

/** An Authorization header alone decides, unless it is of another scheme: then a cookie may authenticate. */
const credentialOf = (event: APIGatewayRequestAuthorizerEvent): Credential => {
  const authorization = headerValues(event, "authorization");
  if (!authorization.every(isOtherScheme)) {
    const [only, ...others] = authorization;
    const [, key] = /^\s*bearer\s+(\S+)\s*$/i.exec(only ?? "") ?? [];
    const read = others.length === 0 && key !== undefined ? readApiKey(key) : undefined;
    return read === undefined ? "none" : { kind: "key", ...read };
  }
  const cookie = cookieValue(event);
  const read = cookie === undefined ? undefined : readSession(cookie);
  return read === undefined ? "none" : { kind: "session", ...read };
};

/** A scheme and credentials (RFC 9110, 11.6.2), such as a proxy's `Basic`, or nothing at all; not a mistyped key. */
const isOtherScheme = (value: string): boolean =>
  /^\s*($|(?!bearer)[\w!#$%&'*+.^`|~-]+ +\S)/i.test(value) && !value.includes(apiKeyPrefix);

/** Over plain HTTP, as in local runs, a `__Host-` cookie cannot exist; API Gateway itself speaks HTTPS only. */
const cookieValue = (event: APIGatewayRequestAuthorizerEvent): string | undefined => {
  const name = isPlainHttp(event) ? "session" : "__Host-session";
  const values = headerValues(event, "cookie")
    .flatMap((header) => header.split(";"))
    .map(readCookie)
    .filter((cookie) => cookie.name === name && !/["\s]/.test(cookie.value))
    .map(({ value }) => value);
  return values.length === 1 ? values[0] : undefined;
};

/** Not with one pattern: of white space that may belong to either side of the value it tries every division. */
const readCookie = (pair: string): { name: string; value: string } => {
  const equals = pair.indexOf("=");
  const value = pair.slice(equals + 1).trim();
  return {
    name: pair.slice(0, Math.max(0, equals)).trim(),
    value: value.replace(/^"/, "").replace(/"$/, ""),
  };
};

/** Against forged requests of other sites (decisions.md "Authorization header"). */
const isOwnOrigin = (event: APIGatewayRequestAuthorizerEvent): boolean => {
  if (event.httpMethod === "GET") return true;
  if (headerValues(event, "sec-fetch-site").includes("same-origin")) return true;
  const [origin] = headerValues(event, "origin");
  const [host] = headerValues(event, "host");
  if (origin === undefined || host === undefined) return false;
  return origin.toLowerCase() === `${isPlainHttp(event) ? "http" : "https"}://${host.toLowerCase()}`;
};

const isPlainHttp = (event: APIGatewayRequestAuthorizerEvent): boolean =>
  headerValues(event, "x-forwarded-proto").at(-1) === "http";

const headerValues = (event: APIGatewayRequestAuthorizerEvent, name: string): string[] =>
  Object.entries(event.multiValueHeaders ?? {})
    .filter(([header]) => header.toLowerCase() === name)
    .flatMap(([, values]) => values ?? []);
