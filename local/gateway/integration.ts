/** A Lambda proxy integration: what a function gets of a request, and what its answer becomes. */
import type { Lambda } from "../lambda/lambda.ts";
import type { InvocationResult } from "../lambda/protocol.ts";
import { decompress } from "./compression.ts";
import { type AuthorizerContext, proxyEvent } from "./events.ts";
import type { HttpReply } from "./gateway-response.ts";
import { Refused, within } from "./refusal.ts";
import { type GatewayRequest, headerOf, type RoutedRequest } from "./request.ts";

export type IntegrationOptions = {
  lambda: Pick<Lambda, "invoke">;
  /** Whether bodies of a media type cross the boundary of a function as base64. */
  isBinary: (contentType?: string) => boolean;
};

/** Invokes the route's function. Throws `Refused` if the function gives no answer, or a malformed one. */
export const integrate = async (
  { lambda, isBinary }: IntegrationOptions,
  request: RoutedRequest,
  authorizer: AuthorizerContext | undefined,
  body: Buffer,
): Promise<HttpReply> => {
  const { route } = request;
  if (!route.isInvocable) throw new Refused({ type: "API_CONFIGURATION_ERROR" });
  const isBase64Encoded = isBinary(headerOf(request, "content-type"));
  const { headers, bytes } = decompress(request, body);
  const text = bytes.toString(isBase64Encoded ? "base64" : "utf8");
  const sent = bytes.length === 0 ? undefined : { text, isBase64Encoded };
  const event = proxyEvent({ ...request, headers }, authorizer, sent);
  const invocation = lambda.invoke(route.functionArn, event).catch((error: Error): InvocationResult => {
    // Base64 can make a body that the gateway takes too large for a function.
    if (error.name === "RequestTooLargeException") throw new Refused({ type: "REQUEST_TOO_LARGE" });
    throw error;
  });
  const result = await within(route.timeoutSeconds, invocation, { type: "INTEGRATION_TIMEOUT" });
  const reply = "functionError" in result ? undefined : readAnswer(result.payload, request, isBinary);
  if (reply === undefined) throw new Refused({ type: "DEFAULT_5XX" });
  return reply;
};

const answerFields = new Set(["statusCode", "headers", "multiValueHeaders", "body", "isBase64Encoded"]);

/** A function's answer as HTTP; undefined if the answer is malformed. */
const readAnswer = (
  answer: unknown,
  request: GatewayRequest,
  isBinary: IntegrationOptions["isBinary"],
): HttpReply | undefined => {
  if (typeof answer !== "object" || answer === null) return undefined;
  if (!Object.keys(answer).every((field) => answerFields.has(field))) return undefined;
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = answer as Record<string, unknown>;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599) return undefined;
  if (body !== undefined && body !== null && typeof body !== "string") return undefined;
  const sent = readHeaders(headers ?? {}, (multiValueHeaders ?? {}) as Record<string, unknown[]>);
  const hasContentType = sent.some(([name]) => name.toLowerCase() === "content-type");
  const isDecoded = isBase64Encoded === true && isBinary(headerOf(request, "accept"));
  return {
    status,
    headers: [...(hasContentType ? [] : [["Content-Type", "application/json"] as [string, string]]), ...sent],
    body: Buffer.from(body ?? "", isDecoded ? "base64" : "utf8"),
  };
};

/** Headers that do not reach the client. */
const droppedHeaders = new Set(["content-length", "transfer-encoding"]);

/** `multiple` wins over `single`, whatever the case of their names. */
const readHeaders = (single: object, multiple: Record<string, unknown[]>): [string, string][] => {
  const overridden = new Set(Object.keys(multiple).map((name) => name.toLowerCase()));
  return [
    ...Object.entries(single).filter(([name]) => !overridden.has(name.toLowerCase())),
    ...Object.entries(multiple).flatMap(([name, values]) => values.map((value) => [name, value] as const)),
  ]
    .filter(([name]) => !droppedHeaders.has(name.toLowerCase()))
    .map(([name, value]) => [name, String(value)]);
};
