import type { APIGatewayAuthorizerResult, APIGatewayRequestAuthorizerEvent } from "aws-lambda";
import { admitAnyone, authenticate, authenticateDashboard } from "../../shared/access/api/authenticate.ts";
import {
  callerOf,
  type Decision,
  type GatewayRefusal,
  requestIds,
  toContext,
} from "../../shared/access/api/principal.ts";
import { viewerAddress } from "../../shared/access/api/source-address.ts";
import { withTimeOfPeople } from "../../shared/aws/table/patience.ts";
import { Refusal, refusals } from "../../shared/contract/errors.ts";

/** The paths of endpoints that anyone may call, as API Gateway declares them. */
const pathsForAnyone: readonly string[] = JSON.parse(process.env.PATHS_FOR_ANYONE ?? "[]");

/** As lib/breach-monitor.ts sets it. */
const timeoutSeconds = 10;

const decide = (event: APIGatewayRequestAuthorizerEvent): Promise<Decision> => {
  // A path as it is declared: the client has no say in it.
  const { resource } = event;
  if (pathsForAnyone.includes(resource)) return admitAnyone(event);
  return /^\/dashboard(\/|$)/.test(resource) ? authenticateDashboard(event) : authenticate(event);
};

/**
 * The REQUEST authorizer of every route. A Deny is 429 `{error}`, by the gateway response ACCESS_DENIED; an
 * error whose message is "Unauthorized" is 401
 * (https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-use-lambda-authorizer.html). No
 * function answers either, so that a flood costs little.
 */
export const handler = (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> =>
  withTimeOfPeople(timeoutSeconds, () => answer(event));

const answer = async (event: APIGatewayRequestAuthorizerEvent): Promise<APIGatewayAuthorizerResult> => {
  const decision = await decide(event).catch(busy);
  // The policy covers the whole stage, since a path may contain wildcards of policies. It is not cached.
  const [api, stage] = event.methodArn.split("/");
  const policy = (effect: "Allow" | "Deny"): APIGatewayAuthorizerResult["policyDocument"] => ({
    Version: "2012-10-17",
    Statement: [{ Action: "execute-api:Invoke", Effect: effect, Resource: `${api}/${stage}/*` }],
  });
  const viewer = viewerAddress(event);
  // For the access log (lib/rest-api.ts).
  const forLog = viewer === undefined ? undefined : { viewerAddress: viewer };
  if (decision !== "anyone" && "refusal" in decision) {
    const { refusal, retryAfterSeconds } = decision;
    const { status, error } = refusals[refusal];
    const isRefusedHere = status === 401 || status === 429;
    // The access log already has such a request, and a flood would fill a second log too.
    if (isRefusedHere && refusal !== "addressLimit") logRefused(event, decision, forLog);
    if (status === 401) throw new Error("Unauthorized");
    if (status === 429) {
      const context = { error, retryAfterSeconds: String(retryAfterSeconds), ...forLog };
      return { principalId: "nobody", policyDocument: policy("Deny"), context };
    }
  }
  return {
    principalId: principalIdOf(decision),
    policyDocument: policy("Allow"),
    context: { ...toContext(decision), ...forLog },
  };
};

/** An error would be API Gateway's 500; as a refusal, the endpoint answers it with 503 and when to try again. */
const busy = (error: unknown): Decision => {
  if (!(error instanceof Refusal) || error.refusal !== "busy") throw error;
  return { refusal: "busy", retryAfterSeconds: Number(error.headers["Retry-After"]) };
};

/**
 * The line that an endpoint would log (answer.ts), of a request that reaches none. Written without the logger's
 * library, which every cold start of the authorizer would load.
 */
const logRefused = (
  event: APIGatewayRequestAuthorizerEvent,
  decision: GatewayRefusal,
  forLog: { viewerAddress: string } | undefined,
): void => {
  const line = {
    level: "INFO",
    message: "request",
    timestamp: new Date().toISOString(),
    ...requestIds(event),
    method: event.httpMethod,
    route: event.resource,
    status: refusals[decision.refusal].status,
    refusal: decision.refusal,
    ...forLog,
    ...callerOf(decision),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

const principalIdOf = (decision: Decision): string => {
  if (decision === "anyone") return "anyone";
  return "refusal" in decision ? "refused" : `organization-${decision.organizationId}`;
};
