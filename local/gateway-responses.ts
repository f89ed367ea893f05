import type { Assembly } from "./assembly.ts";

/** An answer that API Gateway gives by itself. */
export interface GatewayReply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html */
const defaults = {
  ACCESS_DENIED: [403, "User is not authorized to access this resource with an explicit deny"],
  AUTHORIZER_CONFIGURATION_ERROR: [500, null],
  AUTHORIZER_FAILURE: [500, null],
  BAD_REQUEST_PARAMETERS: [400, "Bad Request"],
  INTEGRATION_FAILURE: [504, "Internal server error"],
  INTEGRATION_TIMEOUT: [504, "Endpoint request timed out"],
  MISSING_AUTHENTICATION_TOKEN: [403, "Missing Authentication Token"],
  REQUEST_TOO_LARGE: [413, "HTTP content length exceeded 10485760 bytes."],
  UNAUTHORIZED: [401, "Unauthorized"],
  /** A Lambda function's failure or malformed answer: 502, shaped by DEFAULT_5XX. */
  DEFAULT_5XX: [502, "Internal server error"],
} as const satisfies Record<string, readonly [number, string | null]>;

export type GatewayResponseType = keyof typeof defaults;

interface Declared {
  readonly StatusCode?: string;
  readonly ResponseParameters?: Record<string, string>;
  readonly ResponseTemplates?: Record<string, string>;
}

/** Makes API Gateway's own answers as the template shapes them. */
export function readGatewayResponses(
  assembly: Assembly,
): (type: GatewayResponseType, requestId: string) => GatewayReply {
  const declared = new Map(
    assembly
      .ofType<Declared & { ResponseType: string }>("AWS::ApiGateway::GatewayResponse")
      .map(({ properties }) => [properties.ResponseType, properties as Declared]),
  );
  return (type, requestId) => {
    const [defaultStatus, message] = defaults[type];
    const family = defaultStatus < 500 ? "DEFAULT_4XX" : "DEFAULT_5XX";
    const shape = declared.get(type) ?? declared.get(family) ?? {};
    const context: Record<string, string> = {
      "context.requestId": requestId,
      "context.error.message": message ?? "null",
      "context.error.messageString": JSON.stringify(message),
      "context.error.responseType": type,
    };
    const template =
      shape.ResponseTemplates?.["application/json"] ?? '{"message":$context.error.messageString}';
    return {
      status: Number(shape.StatusCode ?? defaultStatus),
      headers: {
        "Content-Type": "application/json",
        ...headersOf(shape.ResponseParameters ?? {}, context),
        "x-amzn-RequestId": requestId,
        "x-amzn-ErrorType": `${type}Exception`,
      },
      body: template.replaceAll(/\$(context\.[\w.]*\w)/g, (_, name: string) => context[name] ?? ""),
    };
  };
}

/** `gatewayresponse.header.Name`: a literal in quotes, or a path of the context. */
function headersOf(
  parameters: Record<string, string>,
  context: Record<string, string>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [parameter, value] of Object.entries(parameters)) {
    const [, name] = /^gatewayresponse\.header\.(.+)$/.exec(parameter) ?? [];
    if (name === undefined) continue;
    const [, literal] = /^'(.*)'$/.exec(value) ?? [];
    headers[name] = literal ?? context[value] ?? "";
  }
  return headers;
}
