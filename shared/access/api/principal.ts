import type { Endpoint } from "../../contract/endpoint.ts";
import { Refusal, type RefusalName, refusals } from "../../contract/errors.ts";
import type { Actor } from "../activity/actor.ts";
import type { Role } from "../organizations/organization-schema.ts";
import type { Counted } from "./limits.ts";

/**
 * Who a request is from. `session`: of a user; its hash names the session's row. `lapsed`: why the
 * organization is not served, if it is not.
 */
export type Principal = {
  organizationId: number;
  actor: Exclude<Actor, { type: "system" }>;
  session?: { id: number; hash: string; role: Role };
  lapsed?: RefusalName;
  /** The limits of a minute that the request was counted against. */
  limits?: { [Name in "address" | "key" | "user" | "endpoint"]?: Counted };
};

/** Whose credential a request brought, for logs: also of one that has ended or may not do what it asked for. */
export type Caller = { organizationId: number; actorType: "user" | "api_key"; actorId: number };

/**
 * A refusal by the authorizer. API Gateway answers 401 and 429 itself, the endpoint's handler all others.
 * `claimed` is the organization that an unknown credential begins with.
 */
export type GatewayRefusal = {
  refusal: RefusalName;
  retryAfterSeconds?: number;
  caller?: Caller;
  claimed?: number;
};

/** "anyone": of an endpoint that looks at no credential. */
export type Decision = Principal | GatewayRefusal | "anyone";

type Context = Record<string, unknown> | null | undefined;

/** The context that the authorizer passes to the endpoint through API Gateway, which takes texts. */
export const toContext = (decision: Decision): Record<string, string> => ({
  decision: JSON.stringify(decision),
});

/** What `toContext` made; undefined for anything else. */
export const decisionIn = (context: Context): Decision | undefined => {
  const { decision } = context ?? {};
  return typeof decision === "string" ? (JSON.parse(decision) as Decision) : undefined;
};

/** The headers of a reply to a request that the authorizer has counted (draft-ietf-httpapi-ratelimit-headers-11). */
export const rateLimitHeaders = (decision: Decision | undefined): Record<string, string> => {
  const { limits = {} } = typeof decision === "object" && "limits" in decision ? decision : {};
  const all = Object.entries(limits) as [keyof typeof limits, Counted][];
  if (all.length === 0) return {};
  return {
    "RateLimit-Policy": all.map(([name, { limit }]) => `"${name}";q=${limit};w=60`).join(", "),
    RateLimit: all
      .map(([name, { remaining, windowSeconds }]) => `"${name}";r=${remaining};t=${windowSeconds}`)
      .join(", "),
  };
};

/**
 * Who a request of an endpoint is from, as the authorizer has decided: undefined for anyone. Throws the
 * `Refusal`, also of a user who may not call the endpoint. Fails closed on anything else.
 */
export const fromContext = (
  context: Context,
  { access, whenLapsed }: Pick<Endpoint, "access" | "whenLapsed"> = {},
): Principal | undefined => {
  const decision = decisionIn(context);
  if (typeof decision === "object" && "refusal" in decision) throw refusalOf(decision);
  if ((decision === "anyone") !== (access === "anyone")) {
    throw new Error("The authorizer and the endpoint differ on whether anyone may call it");
  }
  if (decision === "anyone") return undefined;
  if (decision === undefined || !Number.isSafeInteger(decision.organizationId))
    throw new Error("The authorizer named no organization");
  const isOfUsers = access === "user" || access === "admin";
  if (isOfUsers && decision.session === undefined) throw new Error("The authorizer named no session");
  const { lapsed } = decision;
  if (lapsed !== undefined && whenLapsed !== "answers") throw refusalOf({ refusal: lapsed });
  if (access === "admin" && decision.session?.role !== "admin") throw new Refusal("adminOnly");
  return decision;
};

/** The same for what answers undeclared routes, whoever may call them. */
export const fromAnyContext = (context: Context): Principal | undefined =>
  fromContext(context, decisionIn(context) === "anyone" ? { access: "anyone" } : {});

const refusalOf = ({ refusal, retryAfterSeconds }: GatewayRefusal): Error => {
  if (!(refusal in refusals)) return new Error("The authorizer named no refusal");
  const headers = retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  return new Refusal(refusal, { headers });
};

/**
 * Who a request is from, for its log line, whether it is served or refused. `claimedOrganizationId` is what an
 * unknown credential says of itself; nothing confirms it.
 */
export const callerOf = (
  decision: Decision | undefined,
): Partial<Caller & { claimedOrganizationId: number }> => {
  if (typeof decision !== "object") return {};
  if (!("refusal" in decision)) {
    const { organizationId, actor } = decision;
    return { organizationId, actorType: actor.type, actorId: actor.id };
  }
  const { caller, claimed } = decision;
  return { ...caller, ...(claimed !== undefined && { claimedOrganizationId: claimed }) };
};

/**
 * The ids of a request, for its log line. Clients can choose `requestId` (`x-amzn-requestid`), but not
 * `extendedRequestId`, which replies carry as `X-Request-Id`
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-variables-for-access-logging.html).
 */
export const requestIds = (event: {
  requestContext: { requestId: string; extendedRequestId?: string | undefined };
}): Record<string, string | undefined> => ({
  requestId: event.requestContext.requestId,
  extendedRequestId: event.requestContext.extendedRequestId,
});
