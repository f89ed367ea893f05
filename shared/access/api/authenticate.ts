import type { APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { RefusalName } from "../../contract/errors.ts";
import { billingRefusal } from "../billing/billing.ts";
import { type ApiKey, isValid } from "../keys/api-key.ts";
import type { User } from "../members/user.ts";
import type { Organization } from "../organizations/organization.ts";
import { isLive, type Session, touch } from "../sessions/session.ts";
import { type Credential, credentialOf, isForeignOrigin, isOwnOrigin } from "./credential.ts";
import * as limits from "./limits.ts";
import type { Caller, Decision, GatewayRefusal, Principal } from "./principal.ts";
import { sourceAddress } from "./source-address.ts";

type Given = Exclude<Credential, "none">;

/** `caller`: the credential is stored, though perhaps revoked or ended. `valid`: it is neither. */
type Identified = {
  caller?: Caller;
  valid?: { principal: Principal; onlyReads: boolean; touch: () => Promise<void> };
};

const nobody: Identified = {};

/**
 * The hashes of credentials that this instance has found valid. Their requests are counted while their rows
 * are read, those of others afterwards: whoever makes credentials up uses up nobody's limit, and causes one
 * write less.
 */
const known = new Set<string>();
const maximumKnown = 5_000;

const rememberValidity = ({ hash }: Given, isValid: boolean): void => {
  if (known.size >= maximumKnown) known.clear();
  if (isValid) known.add(hash);
  else known.delete(hash);
};

const userRequest = (
  { organizationId, userId }: Given & { kind: "session" },
  { httpMethod, resource }: APIGatewayRequestAuthorizerEvent,
): limits.UserRequest => ({ organizationId, userId, method: httpMethod, resource });

/**
 * Decides who a request of /api/v1 is from. The order of checks is: address limit, authentication, limit of
 * the key or user, what the key may do, origin. One parallel trip to the table reads the rows and counts the
 * request of a known credential. Refusals say whose credential it was. Whether a lapsed organization is
 * answered is the endpoint's decision.
 */
export const authenticate = async (
  event: APIGatewayRequestAuthorizerEvent,
  now: Date = new Date(),
): Promise<Principal | GatewayRefusal> => {
  const address = sourceAddress(event);
  const credential = credentialOf(event);
  const refusedSeconds = limits.secondsRefused("ADDRESS", address, now);
  if (refusedSeconds > 0) return refuse(credential, {}, "addressLimit", refusedSeconds);

  const isKnown = credential !== "none" && known.has(credential.hash);
  const [ofAddress, counted, identified] = await Promise.all([
    limits.countMinute("ADDRESS", address, now),
    isKnown ? countCaller(credential, event, now) : undefined,
    credential === "none" ? nobody : identify(credential, now),
  ]);
  const { valid } = identified;
  if (credential !== "none") rememberValidity(credential, valid !== undefined);

  if (ofAddress.refusedSeconds > 0) {
    // The key's limit must not count this request. If this write fails, the key has one request less this
    // minute.
    if (credential !== "none" && counted?.key?.refusedSeconds === 0)
      await limits.uncountKey(credential.hash, now).catch(() => {});
    return refuse(credential, identified, "addressLimit", ofAddress.refusedSeconds);
  }
  if (credential === "none" || valid === undefined) return refuse(credential, identified, "unauthenticated");
  const caller = await recounted(credential, counted ?? (await countCaller(credential, event, now)), now);
  const seconds = secondsOf(caller);
  if (seconds > 0)
    return refuse(credential, identified, credential.kind === "key" ? "keyLimit" : "userLimit", seconds);
  if (valid.onlyReads && event.httpMethod !== "GET") return refuse(credential, identified, "readOnlyKey");
  if (credential.kind === "session" && !isOwnOrigin(event))
    return refuse(credential, identified, "foreignOrigin");
  await valid.touch();
  return { ...valid.principal, limits: { address: ofAddress, ...caller } };
};

type CallerLimits = Pick<NonNullable<Principal["limits"]>, "key" | "user" | "endpoint">;

const countCaller = async (
  credential: Given,
  event: APIGatewayRequestAuthorizerEvent,
  now: Date,
): Promise<CallerLimits> =>
  credential.kind === "key"
    ? { key: await limits.countMinute("KEY", credential.hash, now) }
    : limits.countUser(userRequest(credential, event), "v1", now);

/** Requests at the same time that their address's limit refuses are counted for the key until they are uncounted. */
const recounted = async ({ hash }: Given, caller: CallerLimits, now: Date): Promise<CallerLimits> => {
  const { key } = caller;
  return key === undefined || key.refusedSeconds === 0
    ? caller
    : { key: await limits.recountKey(hash, now, key) };
};

const secondsOf = (caller: CallerLimits): number =>
  Math.max(...Object.values(caller).map(({ refusedSeconds }) => refusedSeconds));

/**
 * Decides who a request of /api/dashboard is from, in the same order of checks. Requests with a valid session
 * count by user, all others by address, in counters of their own.
 */
export const authenticateDashboard = async (
  event: APIGatewayRequestAuthorizerEvent,
  now: Date = new Date(),
): Promise<Decision> => {
  const credential = credentialOf(event);
  if (credential === "none" || credential.kind === "key") {
    const seconds = await countAddress(event, now);
    if (seconds > 0) return refuse(credential, {}, "addressLimit", seconds);
    const key = credential === "none" ? nobody : await identify(credential, now);
    return refuse(credential, key, key.valid === undefined ? "unauthenticated" : "sessionRequired");
  }

  const request = userRequest(credential, event);
  const isKnown = known.has(credential.hash);
  const refusedSeconds = isKnown ? limits.secondsUserRefused(request, now) : 0;
  if (refusedSeconds > 0) return refuse(credential, {}, "userLimit", refusedSeconds);
  const [counted, identified] = await Promise.all([
    isKnown ? limits.countUser(request, "dashboard", now) : undefined,
    identify(credential, now),
  ]);
  const { valid } = identified;
  rememberValidity(credential, valid !== undefined);
  if (valid === undefined) {
    const addressSeconds = await countAddress(event, now);
    return addressSeconds > 0
      ? refuse(credential, identified, "addressLimit", addressSeconds)
      : refuse(credential, identified, "unauthenticated");
  }
  const user = counted ?? (await limits.countUser(request, "dashboard", now));
  const seconds = secondsOf(user);
  if (seconds > 0) return refuse(credential, identified, "userLimit", seconds);
  if (!isOwnOrigin(event)) return refuse(credential, identified, "foreignOrigin");
  await valid.touch();
  return { ...valid.principal, limits: user };
};

/**
 * Decides whether a request of an endpoint that anyone may call is let through. No credential is looked at.
 * Other sites may send requests whose path holds a token, as mail programs in a browser do: the token is the
 * authority, and they do not know it.
 */
export const admitAnyone = async (
  event: APIGatewayRequestAuthorizerEvent,
  now: Date = new Date(),
): Promise<Decision> => {
  const seconds = await countAddress(event, now);
  if (seconds > 0) return { refusal: "addressLimit", retryAfterSeconds: seconds };
  const hasToken = event.resource.includes("{token}");
  return !hasToken && isForeignOrigin(event) ? { refusal: "foreignOrigin" } : "anyone";
};

/** Counts a request against its address; the seconds for which it is refused, or 0. */
const countAddress = async (event: APIGatewayRequestAuthorizerEvent, now: Date): Promise<number> => {
  const address = sourceAddress(event);
  const seconds = limits.secondsRefused("DASHBOARD", address, now);
  return seconds > 0 ? seconds : (await limits.countMinute("DASHBOARD", address, now)).refusedSeconds;
};

/** A refusal with whose credential it was, or else the organization that the credential begins with. */
const refuse = (
  credential: Credential,
  { caller }: Identified,
  refusal: RefusalName,
  retryAfterSeconds?: number,
): GatewayRefusal => ({
  refusal,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  ...(caller && { caller }),
  ...(!caller && credential !== "none" && { claimed: credential.organizationId }),
});

/**
 * Reads the rows of a credential, its organization and its user in one request.
 * `touch` notes its use, at most once an hour; a use that could not be noted is no reason to refuse it.
 */
const identify = async (credential: Given, now: Date): Promise<Identified> => {
  const { organizationId } = credential;
  const key = keyOf(credential);
  const user = credential.kind === "session" ? [keys.user(organizationId, credential.userId)] : [];
  const rows = await table.getMany([key, keys.organization(organizationId), ...user]);
  const [row, owner, member] = rows as [(ApiKey | Session)?, Organization?, User?];
  if (row === undefined) return {};
  if (owner === undefined || owner.deleting === true) return {};
  const caller: Caller =
    "userId" in row
      ? { organizationId: owner.id, actorType: "user", actorId: row.userId }
      : { organizationId: owner.id, actorType: "api_key", actorId: row.id };
  const identity =
    "userId" in row ? ofSession(row, { user: member, owner }, credential, now) : ofKey(row, now);
  if (identity === undefined) return { caller };
  const lapsed = billingRefusal(owner.billing, now);
  return {
    caller,
    valid: {
      principal: { organizationId: owner.id, ...identity, ...(lapsed && { lapsed }) },
      onlyReads: "onlyReads" in row,
      touch: () => touch(key, row, now).catch(() => {}),
    },
  };
};

const keyOf = (credential: Given): Key => {
  const { organizationId, hash } = credential;
  return credential.kind === "key"
    ? keys.apiKey(organizationId, hash)
    : keys.session(organizationId, credential.userId, hash);
};

const ofKey = (row: ApiKey, now: Date): Pick<Principal, "actor"> | undefined =>
  isValid(row, now) ? { actor: { type: "api_key", id: row.id, label: row.label } } : undefined;

/** DynamoDB deletes expired rows late, and rows of a removed user may remain. So a row alone says little. */
const ofSession = (
  row: Session,
  { user, owner }: { user: User | undefined; owner: Organization },
  { hash }: Given,
  now: Date,
): Pick<Principal, "actor" | "session"> | undefined => {
  if (user === undefined || user.removed || !isLive(row, owner, now)) return undefined;
  return {
    actor: { type: "user", id: user.id, label: user.email },
    session: { id: row.id, hash, role: user.role },
  };
};
