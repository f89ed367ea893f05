import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { authenticate } from "../../shared/api/authenticate.ts";
import { toContext } from "../../shared/api/principal.ts";

/** The REQUEST authorizer of every route. A Deny becomes 401 `{error}` by the ACCESS_DENIED gateway response. */
export const handler = async (
  event: APIGatewayRequestAuthorizerEvent,
): Promise<APIGatewayAuthorizerResult> => {
  const decision = await authenticate(event);
  // The whole stage: a path may hold what a policy takes for more than text. It is asked anew for every request.
  const [api, stage] = event.methodArn.split("/");
  const policy = (effect: "Allow" | "Deny"): APIGatewayAuthorizerResult["policyDocument"] => ({
    Version: "2012-10-17",
    Statement: [{ Action: "execute-api:Invoke", Effect: effect, Resource: `${api}/${stage}/*` }],
  });
  if (decision === "unauthenticated") return { principalId: "nobody", policyDocument: policy("Deny") };
  const principalId = "refusal" in decision ? "refused" : `organization-${decision.organizationId}`;
  return { principalId, policyDocument: policy("Allow"), context: toContext(decision) };
};
