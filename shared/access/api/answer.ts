/** What every API handler does: it answers, logs and refuses requests. */
import { Logger } from "@aws-lambda-powertools/logger";
import middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult, Context } from "aws-lambda";
import { Refusal, replyTo } from "../../contract/errors.ts";
import { NewerVersion } from "../../contract/version.ts";
import { callerOf, decisionIn, rateLimitHeaders, requestIds } from "./principal.ts";

/** About how long a deployment takes, while some functions already run the next release. */
const updateSeconds = 60;

export type Handler = (event: APIGatewayProxyEvent, context: Context) => Promise<APIGatewayProxyResult>;

/**
 * Makes a Lambda handler of `work`: turns errors into replies, adds the headers that every reply has, and
 * logs one line for each request.
 */
export const answering = (
  work: (event: APIGatewayProxyEvent, logger: Logger) => Promise<APIGatewayProxyResult>,
): Handler => {
  const logger = new Logger();
  const refuseNewer = (error: NewerVersion): Refusal => {
    logger.error("newer version", { error });
    return new Refusal("newerVersion", { headers: { "Retry-After": String(updateSeconds) } });
  };
  const finish = (event: APIGatewayProxyEvent, response: APIGatewayProxyResult, refused?: Refusal) => {
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
      refusal: refused?.refusal,
      cause: refused?.cause,
    });
    return response;
  };
  const chain = middy<APIGatewayProxyEvent, APIGatewayProxyResult>()
    .handler(async (event) => finish(event, await work(event, logger)))
    .onError((request) => {
      const { event } = request;
      const error = request.error instanceof NewerVersion ? refuseNewer(request.error) : request.error;
      if (error instanceof Refusal) {
        const { status, body } = replyTo(error);
        request.response = finish(event, { ...json(status, body), headers: error.headers }, error);
        return;
      }
      logger.error("unexpected", { ...requestIds(event), error: error as Error });
      request.response = finish(event, json(500, { error: "Internal error" }));
    });
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
