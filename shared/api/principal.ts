import type { Actor } from "../organizations/actor.ts";
import { Refusal, type RefusalName, refusals } from "./errors.ts";

/** Who a request is from. */
export type Principal = { organizationId: number; actor: Actor };

/** A request that is refused after it was let through to an endpoint, since API Gateway cannot compute a reply. */
export type GatewayRefusal = { refusal: RefusalName; retryAfterSeconds?: number };

/**
 * The authorizer's context: what API Gateway hands on, values as strings. There is either a principal or a refusal.
 */
export const toContext = (decision: Principal | GatewayRefusal): Record<string, string> =>
  "refusal" in decision
    ? {
        refusal: decision.refusal,
        ...(decision.retryAfterSeconds !== undefined && {
          retryAfterSeconds: String(decision.retryAfterSeconds),
        }),
      }
    : {
        organizationId: String(decision.organizationId),
        actorType: decision.actor.type,
        actorId: String(decision.actor.id),
        actorLabel: decision.actor.label,
      };

/** The principal of a request. Throws its refusal, and fails closed when there is neither. */
export const fromContext = (context: Record<string, unknown> | null | undefined): Principal => {
  const { refusal, retryAfterSeconds, organizationId, actorType, actorId, actorLabel } = context ?? {};
  if (typeof refusal === "string" && refusal in refusals) {
    throw new Refusal(
      refusal as RefusalName,
      typeof retryAfterSeconds === "string" ? { headers: { "Retry-After": retryAfterSeconds } } : {},
    );
  }
  const org = Number(organizationId);
  const id = Number(actorId);
  if (
    !Number.isSafeInteger(org) ||
    org < 1 ||
    !Number.isSafeInteger(id) ||
    id < 1 ||
    (actorType !== "user" && actorType !== "api_key") ||
    typeof actorLabel !== "string"
  ) {
    throw new Error("The authorizer named neither a principal nor a refusal");
  }
  return { organizationId: org, actor: { type: actorType, id, label: actorLabel } };
};
