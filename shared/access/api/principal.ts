import type { Endpoint } from "../../contract/endpoint.ts";
import { Refusal, type RefusalName, refusals } from "../../contract/errors.ts";
import { perMinute } from "../../contract/limits.ts";
import type { Actor } from "../activity/actor.ts";
import type { Role } from "../organizations/organization-schema.ts";
import type { Counted } from "./limits.ts";

/** Who a request is from. `session`: of a user; its hash names the session's row. */
export type Principal = {
  organizationId: number;
  actor: Actor;
  session?: { id: number; hash: string; role: Role };
  /** The limits of a minute that the request was counted against. */
  limits?: { [Name in "address" | "key" | "session"]?: Counted };
};

/** Whose credential a request brought, for logs: also of one that has ended or may not do what it asked for. */
export type Caller = { organizationId: number; actorType: "user" | "api_key"; actorId: number };

/**
 * A refusal by the authorizer. API Gateway answers 401 and 429 itself, the endpoint's handler all others. `claimed` is the
 * organization that an unknown credential begins with.
 */
export type GatewayRefusal = {
  refusal: RefusalName;
  retryAfterSeconds?: number;
  caller?: Caller;
  claimed?: number;
};

/** A user of an organization whose subscription has lapsed, whom few endpoints answer; `lapsed` says why. */
type Lapsed = Principal & { lapsed: RefusalName };

/** "anyone": of an endpoint that looks at no credential. */
export type Decision = Principal | Lapsed | GatewayRefusal | "anyone";

/** The context that the authorizer passes to the endpoint through API Gateway, which takes strings only. */
export const toContext = (decision: Decision): Record<string, string> => {
  if (decision === "anyone") return { anyone: "true" };
  if ("refusal" in decision) {
    const { refusal, retryAfterSeconds, caller, claimed } = decision;
    return {
      refusal,
      ...(caller && {
        organizationId: String(caller.organizationId),
        actorType: caller.actorType,
        actorId: String(caller.actorId),
      }),
      ...(claimed !== undefined && { claimedOrganizationId: String(claimed) }),
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds: String(retryAfterSeconds) }),
    };
  }
  const { organizationId, actor, session, limits = {} } = decision;
  return {
    organizationId: String(organizationId),
    actorType: actor.type,
    actorId: String(actor.id),
    actorLabel: actor.label,
    ...(session && { sessionId: String(session.id), sessionHash: session.hash, role: session.role }),
    ...("lapsed" in decision && { lapsed: decision.lapsed }),
    ...toRateLimits(limits),
  };
};

/** The values of the headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11). */
const toRateLimits = (limits: NonNullable<Principal["limits"]>): Record<string, string> => {
  const all = Object.entries(limits) as [keyof typeof limits, Counted][];
  if (all.length === 0) return {};
  return {
    rateLimitPolicy: all.map(([name]) => `"${name}";q=${perMinute[name]};w=60`).join(", "),
    rateLimit: all
      .map(([name, { remaining, windowSeconds }]) => `"${name}";r=${remaining};t=${windowSeconds}`)
      .join(", "),
  };
};

/** The headers of a reply to a request that the authorizer has counted. */
export const rateLimitHeaders = (context: Context): Record<string, string> => {
  const { rateLimit, rateLimitPolicy } = context ?? {};
  if (typeof rateLimit !== "string" || typeof rateLimitPolicy !== "string") return {};
  return { "RateLimit-Policy": rateLimitPolicy, RateLimit: rateLimit };
};

type Context = Record<string, unknown> | null | undefined;

/**
 * Reads what `toContext` made, for an endpoint: returns the principal, undefined for anyone, or throws the
 * `Refusal`, also of a user who may not call the endpoint. Fails closed on anything else.
 */
export const fromContext = (
  context: Context,
  endpoint: Pick<Endpoint, "access" | "whenLapsed"> = {},
): Principal | undefined => {
  throwRefusal(context);
  const isAnyone = context?.anyone === "true";
  if (isAnyone !== (endpoint.access === "anyone")) {
    throw new Error("The authorizer and the endpoint differ on whether anyone may call it");
  }
  if (isAnyone) return undefined;
  const principal = readPrincipal(context);
  if (endpoint.access === "user" || endpoint.access === "admin") {
    if (principal.session === undefined) throw new Error("The authorizer named no session");
  }
  const { lapsed } = context ?? {};
  if (lapsed !== undefined && endpoint.whenLapsed !== "answers") throw new Refusal(nameOf(lapsed));
  if (endpoint.access === "admin" && principal.session?.role !== "admin") throw new Refusal("adminOnly");
  return principal;
};

/** The same for what answers undeclared routes, whoever may call them. */
export const fromAnyContext = (context: Context): Principal | undefined =>
  fromContext(context, context?.anyone === "true" ? { access: "anyone" } : {});

const callerFields = ["organizationId", "actorType", "actorId", "claimedOrganizationId"] as const;

/**
 * Who a request is from, for its log line, whether it is served or refused. `claimedOrganizationId` is what an
 * unknown credential says of itself; nothing confirms it.
 */
export const callerOf = (context: Context): Record<string, string | number> =>
  Object.fromEntries(
    callerFields.flatMap((field) => {
      const value = context?.[field];
      if (typeof value !== "string") return [];
      return [[field, field === "actorType" ? value : Number(value)]];
    }),
  );

/**
 * The ids of a request, for its log line. Clients can choose `requestId` (`x-amzn-requestid`), but not `extendedRequestId`, which
 * replies carry as `X-Request-Id`
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html).
 */
export const requestIds = (event: {
  requestContext: { requestId: string; extendedRequestId?: string | undefined };
}): Record<string, string | undefined> => ({
  requestId: event.requestContext.requestId,
  extendedRequestId: event.requestContext.extendedRequestId,
});

const throwRefusal = (context: Context): void => {
  const { refusal, retryAfterSeconds } = context ?? {};
  if (typeof refusal !== "string" || !(refusal in refusals)) return;
  throw new Refusal(
    refusal as RefusalName,
    typeof retryAfterSeconds === "string" ? { headers: { "Retry-After": retryAfterSeconds } } : {},
  );
};

const nameOf = (text: unknown): RefusalName => {
  if (typeof text !== "string" || !(text in refusals)) throw new Error("The authorizer named no refusal");
  return text as RefusalName;
};

const readPrincipal = (context: Context): Principal => {
  const { organizationId, actorType, actorId, actorLabel, sessionId, sessionHash, role } = context ?? {};
  const org = Number(organizationId);
  const id = Number(actorId);
  if (
    !isId(org) ||
    !isId(id) ||
    (actorType !== "user" && actorType !== "api_key") ||
    typeof actorLabel !== "string"
  ) {
    throw new Error("The authorizer named neither a principal nor a refusal");
  }
  const principal: Principal = { organizationId: org, actor: { type: actorType, id, label: actorLabel } };
  if (actorType === "api_key" || sessionId === undefined) return principal;
  const session = Number(sessionId);
  if (!isId(session) || typeof sessionHash !== "string" || (role !== "admin" && role !== "member")) {
    throw new Error("The authorizer named a session that is none");
  }
  return { ...principal, session: { id: session, hash: sessionHash, role } };
};

const isId = (value: number): boolean => Number.isSafeInteger(value) && value >= 1;
