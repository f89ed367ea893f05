/** The gateway's own answers: the template's gateway responses, with AWS's defaults behind them. */
import type { Refusal } from "./refusal.ts";
import type { GatewayRequest } from "./request.ts";

export type HttpReply = { status: number; headers: [name: string, value: string][]; body: Buffer };

/** Response types that this gateway produces, with AWS's statuses and messages. */
const responseTypes = {
  ACCESS_DENIED: [403, "User is not authorized to access this resource"],
  API_CONFIGURATION_ERROR: [500, "Internal server error"],
  AUTHORIZER_CONFIGURATION_ERROR: [500, "Internal server error"],
  AUTHORIZER_FAILURE: [500, "Internal server error"],
  BAD_REQUEST_BODY: [400, "Invalid request body"],
  DEFAULT_4XX: [400, "Bad Request"],
  DEFAULT_5XX: [502, "Internal server error"],
  INTEGRATION_TIMEOUT: [504, "Endpoint request timed out"],
  MISSING_AUTHENTICATION_TOKEN: [403, "Missing Authentication Token"],
  REQUEST_TOO_LARGE: [413, "Request Too Long"],
  UNAUTHORIZED: [401, "Unauthorized"],
  UNSUPPORTED_MEDIA_TYPE: [415, "Unsupported Media Type"],
} as const satisfies Record<string, readonly [status: number, message: string]>;
export type ResponseType = keyof typeof responseTypes;

type GatewayResponse = {
  statusCode?: number;
  responseParameters?: Record<string, string>;
  responseTemplates?: Record<string, string>;
};

/** What an OpenAPI document for API Gateway says of its own answers, by their types. */
export type GatewayResponseDocument = {
  "x-amazon-apigateway-gateway-responses"?: Record<string, GatewayResponse>;
};

export type GatewayResponses = { answer(refusal: Refusal, request: GatewayRequest): HttpReply };

export const readGatewayResponses = (document: GatewayResponseDocument): GatewayResponses => {
  const declared = new Map(Object.entries(document["x-amazon-apigateway-gateway-responses"] ?? {}));
  return {
    answer: (refusal, request) => {
      const [usualStatus, usualMessage] = responseTypes[refusal.type];
      const status = refusal.status ?? usualStatus;
      const {
        statusCode = status,
        responseParameters = {},
        responseTemplates: templates = {},
      } = declared.get(refusal.type) ?? declared.get(status < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX") ?? {};
      const context = contextOf(refusal, refusal.message ?? usualMessage, request);
      const [mediaType = "application/json"] =
        "application/json" in templates ? ["application/json"] : Object.keys(templates);
      const template = templates[mediaType] ?? '{"message":$context.error.messageString}';
      const headers = Object.entries(responseParameters).flatMap(([target, source]) => {
        const name = target.replace(/^gatewayresponse\.header\./, "");
        const value = parameterValue(source, context);
        return value === undefined ? [] : [[name, value] as [string, string]];
      });
      const hasContentType = headers.some(([name]) => name.toLowerCase() === "content-type");
      return {
        status: statusCode,
        headers: [
          ...(hasContentType ? [] : [["Content-Type", mediaType] as [string, string]]),
          ["x-amzn-ErrorType", refusal.type],
          ...headers,
        ],
        body: Buffer.from(fill(template, context)),
      };
    },
  };
};

/** The `$context` variables that gateway responses may use, by name. */
const contextOf = (refusal: Refusal, message: string, request: GatewayRequest): Map<string, string> => {
  const authorizer = Object.entries(refusal.authorizer ?? {});
  return new Map([
    ["error.message", message],
    ["error.messageString", JSON.stringify(message)],
    ["error.responseType", refusal.type],
    ["extendedRequestId", request.extendedId],
    ["httpMethod", request.method],
    ["identity.sourceIp", request.sourceIp],
    ["path", request.path],
    ["requestId", request.id],
    ["requestTimeEpoch", String(request.receivedAt)],
    ...authorizer.map(([name, value]) => [`authorizer.${name}`, String(value)] as const),
  ]);
};

/** The value of a response parameter: a quoted text or a `context` variable. */
const parameterValue = (source: string, context: Map<string, string>): string | undefined =>
  /^'(.*)'$/s.exec(source)?.[1] ?? context.get(source.replace(/^context\./, ""));

/** Fills in `$context` variables, all that a template may use. One without a value becomes empty. */
const fill = (template: string, context: Map<string, string>): string =>
  template.replace(
    /\$context\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)/g,
    (_, name: string) => context.get(name) ?? "",
  );
