/** What every chain of the API begins with: who a request is from, and how it is answered, logged and refused. */
import { Logger } from "@aws-lambda-powertools/logger";
import type middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import { Refusal, replyTo } from "./errors.ts";
import { fromContext, type Principal } from "./principal.ts";

export type Served = APIGatewayProxyEvent & { principal?: Principal; input?: Record<string, unknown> };
export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/** Who the request is from, or the authorizer's refusal. */
export const identify: middy.MiddlewareObj<Served, APIGatewayProxyResult> = {
  before: ({ event }) => {
    event.principal = fromContext(event.requestContext.authorizer);
  },
};

/** Turns errors into the contract's replies, adds the headers of every reply, and logs one line per outcome. */
export const answer = (): middy.MiddlewareObj<Served, APIGatewayProxyResult> => {
  const logger = new Logger();
  const finish = (event: Served, response: APIGatewayProxyResult, refusal?: string) => {
    const { requestId, httpMethod, resourcePath, requestTimeEpoch } = event.requestContext;
    response.headers = { ...response.headers, ...everyHeader(requestId) };
    logger.info("request", {
      requestId,
      method: httpMethod,
      route: resourcePath,
      status: response.statusCode,
      milliseconds: Date.now() - requestTimeEpoch,
      organizationId: event.principal?.organizationId,
      refusal,
    });
  };
  return {
    after: ({ event, response }) => {
      if (response !== null && response !== undefined) finish(event, response);
    },
    onError: (request) => {
      const { event, error } = request;
      if (error instanceof Refusal) {
        const { status, body } = replyTo(error);
        request.response = { ...json(status, body), headers: error.headers };
        finish(event, request.response, error.refusal);
        return;
      }
      logger.error("unexpected", { requestId: event.requestContext.requestId, error: error as Error });
      request.response = json(500, { error: "Internal error" });
      finish(event, request.response);
    },
  };
};

const everyHeader = (requestId: string): Record<string, string> => ({
  "Content-Type": "application/json",
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "X-Request-Id": requestId,
});

export const json = (statusCode: number, body: unknown): APIGatewayProxyResult => ({
  statusCode,
  body: JSON.stringify(body),
});
