import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { billingRefusal } from "../billing/billing.ts";
import type { RefusalName } from "../contract/errors.ts";
import { type ApiKey, isLive, type Session, touch } from "../organizations/last-use.ts";
import type { Organization } from "../organizations/organization.ts";
import { roleOf } from "../organizations/role.ts";
import type { User } from "../organizations/user.ts";
import { type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { type Credential, credentialOf, isForeignOrigin, isOwnOrigin } from "./credential.ts";
import * as limits from "./limits.ts";
import type { Decision, GatewayRefusal, Principal } from "./principal.ts";

type Given = Exclude<Credential, "none">;

/** Who a valid credential belongs to, and why the organization is refused although it is valid. */
type Authenticated = { principal: Principal; lapsed: RefusalName | undefined };

/**
 * Decides who a request of /api/v1 is from. The order of checks is: address limit, authentication, key limit,
 * origin, billing. One parallel trip to the table reads the rows and counts the request; "unauthenticated"
 * becomes API Gateway's 401.
 */
export const authenticate = async (
  event: APIGatewayRequestAuthorizerEvent,
  now: Date = new Date(),
): Promise<Principal | GatewayRefusal | "unauthenticated"> => {
  const { sourceIp } = event.requestContext.identity;
  const refusedSeconds = limits.secondsRefused("v1", sourceIp, now);
  if (refusedSeconds > 0) return { refusal: "addressLimit", retryAfterSeconds: refusedSeconds };

  const credential = credentialOf(event);
  const keyHash = credential !== "none" && credential.kind === "key" ? credential.hash : undefined;
  const [addressSeconds, keySeconds, authenticated] = await Promise.all([
    limits.countAddress("v1", sourceIp, now),
    keyHash === undefined ? 0 : limits.countKey(keyHash, now),
    credential === "none" ? undefined : identify(credential, now),
  ]);

  if (addressSeconds > 0) {
    // The key's limit must not count this request. If this write fails, the key has one request less this
    // minute.
    if (keyHash !== undefined) await limits.uncountKey(keyHash, now).catch(() => {});
    return { refusal: "addressLimit", retryAfterSeconds: addressSeconds };
  }
  if (credential === "none" || authenticated === undefined) return "unauthenticated";
  if (keySeconds > 0) return { refusal: "keyLimit", retryAfterSeconds: keySeconds };
  if (credential.kind === "session" && !isOwnOrigin(event)) return { refusal: "foreignOrigin" };
  if (authenticated.lapsed !== undefined) return { refusal: authenticated.lapsed };
  await authenticated.touch();
  return authenticated.principal;
};

/**
 * Decides who a request of /api/dashboard is from, in the same order of checks. Requests with a valid session
 * count by session, all others by address, in counters of their own. Whether a lapsed organization is answered
 * is the endpoint's decision.
 */
export const authenticateDashboard = async (
  event: APIGatewayRequestAuthorizerEvent,
  now: Date = new Date(),
): Promise<Decision> => {
  const credential = credentialOf(event);
  if (credential === "none" || credential.kind === "key") {
    const refusal = await countAddress(event, now);
    if (refusal !== undefined) return refusal;
    const key = credential === "none" ? undefined : await identify(credential, now);
    return key === undefined ? "unauthenticated" : { refusal: "sessionRequired" };
  }

  const { sourceIp } = event.requestContext.identity;
  const refusedSeconds = limits.secondsRefused("session", credential.hash, now);
  if (refusedSeconds > 0) return { refusal: "sessionLimit", retryAfterSeconds: refusedSeconds };
  // An address over its limit may only guess: cookies that it makes up are read, but not counted.
  const isGuess = limits.secondsRefused("dashboard", sourceIp, now) > 0;
  const [countedSeconds, authenticated] = await Promise.all([
    isGuess ? undefined : limits.countSession(credential.hash, now),
    identify(credential, now),
  ]);
  if (authenticated === undefined) return (await countAddress(event, now)) ?? "unauthenticated";
  const seconds = countedSeconds ?? (await limits.countSession(credential.hash, now));
  if (seconds > 0) return { refusal: "sessionLimit", retryAfterSeconds: seconds };
  if (!isOwnOrigin(event)) return { refusal: "foreignOrigin" };
  await authenticated.touch();
  const { principal, lapsed } = authenticated;
  return lapsed === undefined ? principal : { ...principal, lapsed };
};

/** Decides whether a request of an endpoint that anyone may call is let through. No credential is looked at. */
export const admitAnyone = async (
  event: APIGatewayRequestAuthorizerEvent,
  now: Date = new Date(),
): Promise<Decision> => {
  const refusal = await countAddress(event, now);
  if (refusal !== undefined) return refusal;
  return isForeignOrigin(event) ? { refusal: "foreignOrigin" } : "anyone";
};

const countAddress = async (
  { requestContext }: APIGatewayRequestAuthorizerEvent,
  now: Date,
): Promise<GatewayRefusal | undefined> => {
  const { sourceIp } = requestContext.identity;
  const seconds =
    limits.secondsRefused("dashboard", sourceIp, now) ||
    (await limits.countAddress("dashboard", sourceIp, now));
  return seconds > 0 ? { refusal: "addressLimit", retryAfterSeconds: seconds } : undefined;
};

/**
 * Reads the rows of a credential, its organization and its user in one request; undefined unless it is valid.
 * `touch` notes its use, at most once an hour; a use that could not be noted is no reason to refuse it.
 */
const identify = async (
  credential: Given,
  now: Date,
): Promise<(Authenticated & { touch: () => Promise<void> }) | undefined> => {
  const { organizationId } = credential;
  const key = keyOf(credential);
  const user = credential.kind === "session" ? [keys.user(organizationId, credential.userId)] : [];
  const rows = await table.getMany([key, keys.organization(organizationId), ...user]);
  const [row, owner, member] = rows as [(ApiKey | Session)?, Organization?, User?];
  if (row === undefined || owner === undefined || owner.deleting === true) return undefined;
  const found = "userId" in row ? ofSession(row, member, credential, now) : ofKey(row);
  if (found === undefined) return undefined;
  return {
    principal: { organizationId: owner.id, ...found },
    lapsed: billingRefusal(owner.billing, now),
    touch: () => touch(key, row, now).catch(() => {}),
  };
};

const keyOf = (credential: Given): Key => {
  const { organizationId, hash } = credential;
  return credential.kind === "key"
    ? keys.apiKey(organizationId, hash)
    : keys.session(organizationId, credential.userId, hash);
};

const ofKey = (row: ApiKey): Pick<Principal, "actor"> | undefined =>
  row.revokedAt === null ? { actor: { type: "api_key", id: row.id, label: row.label } } : undefined;

/** DynamoDB deletes expired rows late, and those of a removed user may be left, so that a row alone says little. */
const ofSession = (
  row: Session,
  user: User | undefined,
  { hash }: Given,
  now: Date,
): Pick<Principal, "actor" | "session"> | undefined => {
  if (user === undefined || user.removed || !isLive(row, now)) return undefined;
  return {
    actor: { type: "user", id: user.id, label: user.email },
    session: { id: row.id, hash, role: roleOf(user) },
  };
};
