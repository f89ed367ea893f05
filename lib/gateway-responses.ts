/**
 * What API Gateway answers by itself, in the form of the contract: `{error}` as JSON, in the words of the functions.
 * Types that are not here fall back to DEFAULT_4XX and DEFAULT_5XX.
 */
import { ResponseType, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { refusals } from "../shared/api/errors.ts";

type GatewayResponse = {
  type: ResponseType;
  /** Default: as API Gateway has it. */
  status?: number;
  /** Default: API Gateway's own sentence. */
  error?: string;
  headers?: Record<string, string>;
};

const { unauthenticated, notFound, tooLarge } = refusals;
const bearer = { "WWW-Authenticate": "Bearer" };
const tooManyRequests = "The service is receiving too many requests";

const responses: readonly GatewayResponse[] = [
  // The authorizer denied.
  { type: ResponseType.ACCESS_DENIED, ...unauthenticated, headers: bearer },
  { type: ResponseType.UNAUTHORIZED, ...unauthenticated, headers: bearer },
  // No such resource. With an Authorization header API Gateway takes that for a broken IAM signature; nothing here uses IAM.
  { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, ...notFound },
  { type: ResponseType.RESOURCE_NOT_FOUND, ...notFound },
  { type: ResponseType.INVALID_SIGNATURE, ...notFound },
  { type: ResponseType.REQUEST_TOO_LARGE, ...tooLarge },
  // Rates refill within a second, quotas (of usage plans, should somebody add one) are per day at the least.
  { type: ResponseType.THROTTLED, status: 429, error: tooManyRequests, headers: { "Retry-After": "1" } },
  {
    type: ResponseType.QUOTA_EXCEEDED,
    status: 429,
    error: tooManyRequests,
    headers: { "Retry-After": "3600" },
  },
  { type: ResponseType.DEFAULT_4XX },
  { type: ResponseType.DEFAULT_5XX, status: 500, error: "Internal error" },
];

export function addGatewayResponses(api: RestApi): void {
  for (const { type, status, error, headers } of responses) {
    const fixed = { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers };
    api.addGatewayResponse(type.responseType, {
      type,
      ...(status !== undefined && { statusCode: String(status) }),
      responseHeaders: {
        ...Object.fromEntries(Object.entries(fixed).map(([name, value]) => [name, `'${value}'`])),
        "X-Request-Id": "context.requestId",
      },
      templates: {
        // messageString is quoted and escaped already.
        "application/json":
          error === undefined ? '{"error":$context.error.messageString}' : JSON.stringify({ error }),
      },
    });
  }
}
