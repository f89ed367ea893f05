/**
 * The replies that API Gateway gives without calling a function, in the form and the words of the functions'
 * errors: `{error}` as JSON. Types that are not listed fall back to DEFAULT_4XX and DEFAULT_5XX.
 */
import { ResponseType } from "aws-cdk-lib/aws-apigateway";
import { refusals } from "../shared/contract/errors.ts";
import type { Options } from "./options.ts";

type GatewayResponse = {
  type: ResponseType;
  /** Default: the status that API Gateway gives this type. */
  status?: number;
  /** Default: the sentence that API Gateway gives this type. */
  error?: string;
  /** Whether the authorizer's context has `error` and `retryAfterSeconds`. */
  isFromAuthorizer?: boolean;
  headers?: Record<string, string>;
};

const { unauthenticated, notFound, tooLarge } = refusals;
const bearer = { "WWW-Authenticate": "Bearer" };
const tooManyRequests = "The service is receiving too many requests";

const responses: readonly GatewayResponse[] = [
  // The authorizer denied, which it does for limits only, and says which and for how long.
  { type: ResponseType.ACCESS_DENIED, status: 429, isFromAuthorizer: true },
  { type: ResponseType.UNAUTHORIZED, ...unauthenticated, headers: bearer },
  // These three mean that there is no such path. API Gateway takes an Authorization header on such a path for
  // a broken IAM signature, although no path uses IAM.
  { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, ...notFound },
  { type: ResponseType.RESOURCE_NOT_FOUND, ...notFound },
  { type: ResponseType.INVALID_SIGNATURE, ...notFound },
  { type: ResponseType.REQUEST_TOO_LARGE, ...tooLarge },
  // The slowest methods let a request through every five seconds. Only usage plans have quotas, which count per day or
  // longer.
  { type: ResponseType.THROTTLED, status: 429, error: tooManyRequests, headers: { "Retry-After": "5" } },
  {
    type: ResponseType.QUOTA_EXCEEDED,
    status: 429,
    error: tooManyRequests,
    headers: { "Retry-After": "3600" },
  },
  { type: ResponseType.DEFAULT_4XX },
  { type: ResponseType.DEFAULT_5XX, status: 500, error: "Internal error" },
];

/** The longest that a limit by address, key or session lasts, in seconds. */
const longestLimitSeconds = 60;

const bodyOf = ({ error, isFromAuthorizer }: GatewayResponse): string => {
  if (isFromAuthorizer) return '{"error":"$context.authorizer.error"}';
  // `messageString` is already quoted and escaped.
  return error === undefined ? '{"error":$context.error.messageString}' : JSON.stringify({ error });
};

/** The replies by their types, as an OpenAPI document for API Gateway has them. */
export const gatewayResponses = ({ gatewayContextHeaders }: Options): Record<string, object> =>
  Object.fromEntries(
    responses.map((response) => {
      const { type, status, isFromAuthorizer, headers } = response;
      const fixed = { "Content-Type": "application/json", "Cache-Control": "no-store", ...headers };
      // API Gateway documents values from the request and constants only. Without these, the same id is in API
      // Gateway's own header x-amz-apigw-id, and clients wait longer than they have to.
      const retryAfter = gatewayContextHeaders
        ? "context.authorizer.retryAfterSeconds"
        : `'${longestLimitSeconds}'`;
      const sources = {
        ...Object.fromEntries(Object.entries(fixed).map(([name, value]) => [name, `'${value}'`])),
        ...(gatewayContextHeaders && { "X-Request-Id": "context.extendedRequestId" }),
        ...(isFromAuthorizer && { "Retry-After": retryAfter }),
      };
      return [
        type.responseType,
        {
          ...(status !== undefined && { statusCode: status }),
          responseParameters: Object.fromEntries(
            Object.entries(sources).map(([name, source]) => [`gatewayresponse.header.${name}`, source]),
          ),
          responseTemplates: { "application/json": bodyOf(response) },
        },
      ];
    }),
  );
