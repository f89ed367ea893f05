/** Asks a REQUEST authorizer, without caching its answers. */
import { decide, type PolicyDocument } from "../iam/policy.ts";
import type { Lambda } from "../lambda/lambda.ts";
import { type AuthorizerContext, authorizerEvent, methodArn } from "./events.ts";
import { Refused, within } from "./refusal.ts";
import type { RoutedRequest } from "./request.ts";
import type { Authorizer } from "./routes.ts";

const timeoutSeconds = 29;

/** The message of an error by which an authorizer refuses a request, for API Gateway's 401. */
export const refusalMessage = "Unauthorized";

/** The context that an authorizer gives to the integration. Throws `Refused` for a request that it denies. */
export const authorize = async (
  lambda: Pick<Lambda, "invoke">,
  authorizer: Authorizer,
  request: RoutedRequest,
): Promise<AuthorizerContext> => {
  if (!authorizer.isInvocable) throw new Refused({ type: "AUTHORIZER_CONFIGURATION_ERROR" });
  const startedAt = Date.now();
  const invocation = lambda.invoke(authorizer.functionArn, authorizerEvent(request));
  const result = await within(timeoutSeconds, invocation, { type: "AUTHORIZER_FAILURE" });
  if ("functionError" in result) {
    const isRefusal = result.payload.errorMessage === refusalMessage;
    throw new Refused({ type: isRefusal ? "UNAUTHORIZED" : "AUTHORIZER_FAILURE" });
  }
  return readAnswer(result.payload, methodArn(request), Date.now() - startedAt);
};

const readAnswer = (answer: unknown, arn: string, integrationLatency: number): AuthorizerContext => {
  const { principalId, policyDocument, context } = (answer ?? {}) as {
    principalId?: unknown;
    policyDocument?: PolicyDocument;
    context?: Record<string, unknown> | null;
  };
  const values = Object.entries(context ?? {});
  const isValid =
    typeof principalId === "string" &&
    policyDocument?.Statement !== undefined &&
    values.every(([, value]) => ["string", "number", "boolean"].includes(typeof value));
  if (!isValid) throw new Refused({ type: "AUTHORIZER_CONFIGURATION_ERROR" });
  const authorizer = Object.fromEntries(values.map(([name, value]) => [name, String(value)]));
  const decision = decide([policyDocument.Statement].flat(), "execute-api:Invoke", arn);
  if (decision !== "allow") {
    const explicit = decision === "deny" ? " with an explicit deny in an identity-based policy" : "";
    throw new Refused({
      type: "ACCESS_DENIED",
      message: `User is not authorized to access this resource${explicit}`,
      authorizer: { ...authorizer, principalId },
    });
  }
  return { ...authorizer, principalId, integrationLatency };
};
