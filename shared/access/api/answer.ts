/** The middleware of every API handler: identifies who a request is from; answers, logs and refuses it. */
import { Logger } from "@aws-lambda-powertools/logger";
import middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import type { Endpoint } from "../../contract/endpoint.ts";
import { Refusal, replyTo } from "../../contract/errors.ts";
import { NewerVersion } from "../../contract/version.ts";
import {
  callerOf,
  decisionIn,
  fromAnyContext,
  fromContext,
  type Principal,
  rateLimitHeaders,
  requestIds,
} from "./principal.ts";

/** About how long a deployment takes, while some functions already run the next release. */
const updateSeconds = 60;

export type Served = APIGatewayProxyEvent & { principal?: Principal; input?: Record<string, unknown> };
export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/**
 * Sets `event.principal`, which stays undefined where anyone may call. Throws the authorizer's refusal, and refuses callers who may not
 * use the endpoint. Without an endpoint, everybody may call whom the authorizer lets through.
 */
export const identify = (endpoint?: Endpoint): middy.MiddlewareObj<Served, APIGatewayProxyResult> => ({
  before: ({ event }) => {
    const { authorizer } = event.requestContext;
    const principal = endpoint === undefined ? fromAnyContext(authorizer) : fromContext(authorizer, endpoint);
    if (principal !== undefined) event.principal = principal;
  },
});

/** Turns errors into replies, adds the headers that every reply has, and logs one line for each request. */
export const answer = (): middy.MiddlewareObj<Served, APIGatewayProxyResult> => {
  const logger = new Logger();
  const refuseNewer = (error: NewerVersion): Refusal => {
    logger.error("newer version", { error });
    return new Refusal("newerVersion", { headers: { "Retry-After": String(updateSeconds) } });
  };
  const finish = (event: Served, response: APIGatewayProxyResult, refusal?: string) => {
    const { httpMethod, resourcePath, requestTimeEpoch, authorizer } = event.requestContext;
    const decision = decisionIn(authorizer);
    response.headers = {
      ...response.headers,
      ...rateLimitHeaders(decision),
      ...everyHeader(event.requestContext.extendedRequestId),
    };
    logger.info("request", {
      ...requestIds(event),
      method: httpMethod,
      route: resourcePath,
      status: response.statusCode,
      milliseconds: Date.now() - requestTimeEpoch,
      ...callerOf(decision),
      refusal,
    });
  };
  return {
    after: ({ event, response }) => {
      if (response !== null && response !== undefined) finish(event, response);
    },
    onError: (request) => {
      const { event } = request;
      const error = request.error instanceof NewerVersion ? refuseNewer(request.error) : request.error;
      if (error instanceof Refusal) {
        const { status, body } = replyTo(error);
        request.response = { ...json(status, body), headers: error.headers };
        finish(event, request.response, error.refusal);
        return;
      }
      logger.error("unexpected", { ...requestIds(event), error: error as Error });
      request.response = json(500, { error: "Internal error" });
      finish(event, request.response);
    },
  };
};

/** Makes a Lambda handler that refuses every request; `refuse` throws the refusal. */
export const refuseAll = (refuse: (event: APIGatewayProxyEvent) => never): Handler => {
  const chain = middy<Served, APIGatewayProxyResult>()
    .use(answer())
    .use(identify())
    .handler(async (event) => refuse(event));
  return (event, context) => chain(event, context);
};

const everyHeader = (requestId = ""): Record<string, string> => ({
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "X-Request-Id": requestId,
});

export const json = (statusCode: number, body: unknown): APIGatewayProxyResult => ({
  statusCode,
  body: JSON.stringify(body),
});
