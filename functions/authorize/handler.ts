import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { admitAnyone, authenticate, authenticateDashboard } from "../../shared/api/authenticate.ts";
import { type Decision, toContext } from "../../shared/api/principal.ts";

/** The paths of endpoints that anyone may call, as API Gateway declares them. */
const pathsForAnyone: readonly string[] = JSON.parse(process.env.PATHS_FOR_ANYONE ?? "[]");

const decide = (event: APIGatewayRequestAuthorizerEvent): Promise<Decision> => {
  // A path as it is declared: the client has no say in it.
  const { resource } = event;
  if (pathsForAnyone.includes(resource)) return admitAnyone(event);
  return /^\/dashboard(\/|$)/.test(resource) ? authenticateDashboard(event) : authenticate(event);
};

/**
 * The REQUEST authorizer of every route. The gateway response ACCESS_DENIED turns a Deny into 401 `{error}`.
 */
export const handler = async (
  event: APIGatewayRequestAuthorizerEvent,
): Promise<APIGatewayAuthorizerResult> => {
  const decision = await decide(event);
  // The policy covers the whole stage, since a path may contain wildcards of policies. It is not cached.
  const [api, stage] = event.methodArn.split("/");
  const policy = (effect: "Allow" | "Deny"): APIGatewayAuthorizerResult["policyDocument"] => ({
    Version: "2012-10-17",
    Statement: [{ Action: "execute-api:Invoke", Effect: effect, Resource: `${api}/${stage}/*` }],
  });
  if (decision === "unauthenticated") return { principalId: "nobody", policyDocument: policy("Deny") };
  return {
    principalId: principalIdOf(decision),
    policyDocument: policy("Allow"),
    context: toContext(decision),
  };
};

const principalIdOf = (decision: Exclude<Decision, "unauthenticated">): string => {
  if (decision === "anyone") return "anyone";
  return "refusal" in decision ? "refused" : `organization-${decision.organizationId}`;
};
