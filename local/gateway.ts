/**
 * API Gateway's REST API, as the template declares it: routes, a Lambda REQUEST authorizer without cache, Lambda proxy
 * integrations, gateway responses, binary media types and compression. Plain HTTP on loopback, which the functions see in
 * `X-Forwarded-Proto`; the rest of what they get is as on AWS.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import type { Assembly } from "./assembly.ts";
import { type GatewayReply, type GatewayResponseType, readGatewayResponses } from "./gateway-responses.ts";
import { type Match, readRoutes } from "./gateway-routes.ts";
import type { Lambda } from "./lambda.ts";

const maximumBodyBytes = 10 * 1024 * 1024;
const maximumHeaderBytes = 10_240;
const integrationTimeoutMilliseconds = 29_000;
/** Sent by the service or consumed by the connection: API Gateway does not pass them on. */
const droppedReplyHeaders = new Set(["connection", "transfer-encoding", "content-length"]);

export interface Gateway {
  /** Where the stage is, without a slash at its end. */
  readonly url: string;
  close(): Promise<void>;
}

export interface GatewaySettings {
  readonly assembly: Assembly;
  readonly lambda: Lambda;
  /** 0: a free one. */
  readonly port: number;
  /** Answers a request that is for the runtime itself; false: it is for the API. */
  readonly answerLocal?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** What one request is, in the form that authorizer and integration events share. */
type ProxyEvent = ReturnType<typeof eventOf>;

interface ProxyReply {
  readonly statusCode: number;
  readonly headers?: Record<string, string | number | boolean>;
  readonly multiValueHeaders?: Record<string, (string | number | boolean)[]>;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

/** Answers a request by itself: what API Gateway says when a function does not get to speak. */
class GatewayError extends Error {
  readonly type: GatewayResponseType;
  constructor(type: GatewayResponseType) {
    super(type);
    this.type = type;
  }
}

export async function startGateway(settings: GatewaySettings): Promise<Gateway> {
  const { assembly, lambda, port, answerLocal } = settings;
  const route = readRoutes(assembly);
  const gatewayResponse = readGatewayResponses(assembly);
  const [api] = assembly.ofType<{ BinaryMediaTypes?: string[]; MinimumCompressionSize?: number }>(
    "AWS::ApiGateway::RestApi",
  );
  const [stageResource] = assembly.ofType<{ StageName: string }>("AWS::ApiGateway::Stage");
  if (api === undefined || stageResource === undefined) throw new Error("The template has no REST API");
  const stage = stageResource.properties.StageName;
  const apiId = assembly.physicalId(api.logicalId);
  const binaryTypes = new Set(api.properties.BinaryMediaTypes ?? []);
  const minimumCompressionBytes = api.properties.MinimumCompressionSize;

  async function answer(request: IncomingMessage, requestId: string): Promise<GatewayReply | ProxyReply> {
    const { pathname, query } = splitUrl(request.url ?? "/");
    const [, first, rest] = /^\/([^/]*)(.*)$/.exec(pathname) ?? [];
    const match = first === stage ? route(request.method ?? "GET", rest || "/") : undefined;
    if (match === undefined) throw new GatewayError("MISSING_AUTHENTICATION_TOKEN");
    const headerBytes = request.rawHeaders.reduce((sum, part) => sum + part.length, 0);
    if (headerBytes > maximumHeaderBytes) throw new GatewayError("BAD_REQUEST_PARAMETERS");

    const body = await readBody(request);
    const event = eventOf({
      request,
      requestId,
      match,
      stage,
      apiId,
      path: rest || "/",
      query,
      accountId: assembly.accountId,
    });
    const authorizer = await authorize(
      event,
      match,
      `${arnPrefix()}/${stage}/${request.method}${rest || "/"}`,
    );
    const contentType = (request.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
    const isBase64Encoded = body.length > 0 && binaryTypes.has(contentType);
    return integrate(match, {
      ...event,
      requestContext: { ...event.requestContext, ...(authorizer !== undefined && { authorizer }) },
      body: body.length === 0 ? null : body.toString(isBase64Encoded ? "base64" : "utf8"),
      isBase64Encoded,
    });
  }

  const arnPrefix = () => `arn:aws:execute-api:${assembly.region}:${assembly.accountId}:${apiId}`;

  /** The authorizer's context, as strings. Throws what API Gateway answers when it does not allow the request. */
  async function authorize(
    event: ProxyEvent,
    match: Match,
    methodArn: string,
  ): Promise<Record<string, string | number> | undefined> {
    const { authorizerArn } = match.method;
    if (authorizerArn === undefined) return undefined;
    const result = await lambda.invoke(authorizerArn, { type: "REQUEST", methodArn, ...event });
    if ("functionError" in result) {
      throw new GatewayError(
        result.payload.errorMessage === "Unauthorized" ? "UNAUTHORIZED" : "AUTHORIZER_FAILURE",
      );
    }
    const {
      principalId,
      policyDocument,
      context = {},
    } = (result.payload ?? {}) as {
      principalId?: unknown;
      policyDocument?: { Statement?: unknown };
      context?: Record<string, unknown>;
    };
    if (typeof principalId !== "string" || !Array.isArray(policyDocument?.Statement)) {
      throw new GatewayError("AUTHORIZER_CONFIGURATION_ERROR");
    }
    if (Object.values(context).some((value) => typeof value === "object")) {
      throw new GatewayError("AUTHORIZER_CONFIGURATION_ERROR");
    }
    if (!allows(policyDocument.Statement, methodArn)) throw new GatewayError("ACCESS_DENIED");
    const strings = Object.entries(context).map(([name, value]) => [name, String(value)]);
    return { ...Object.fromEntries(strings), principalId, integrationLatency: 0 };
  }

  async function integrate(match: Match, event: unknown): Promise<ProxyReply> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new GatewayError("INTEGRATION_TIMEOUT")),
        integrationTimeoutMilliseconds,
      );
    });
    try {
      const result = await Promise.race([lambda.invoke(match.method.functionArn, event), timeout]);
      if ("functionError" in result || !isProxyReply(result.payload)) throw new GatewayError("DEFAULT_5XX");
      return result.payload;
    } finally {
      clearTimeout(timer);
    }
  }

  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    if (answerLocal?.(request, response) === true) return;
    const requestId = randomUUID();
    answer(request, requestId)
      .catch((error: unknown) => {
        if (!(error instanceof GatewayError))
          console.error(`The gateway failed: ${(error as Error).message}`);
        return gatewayResponse(error instanceof GatewayError ? error.type : "DEFAULT_5XX", requestId);
      })
      .then((reply) => send(request, response, reply, { requestId, minimumCompressionBytes }))
      .catch(() => response.destroy());
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve());
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${stage}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function splitUrl(url: string): { pathname: string; query: string } {
  const at = url.indexOf("?");
  return at < 0 ? { pathname: url, query: "" } : { pathname: url.slice(0, at), query: url.slice(at + 1) };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Not destroyed when it is too long: the client is to read the answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > maximumBodyBytes) throw new GatewayError("REQUEST_TOO_LARGE");
    chunks.push(chunk as Buffer);
  }
  const body = Buffer.concat(chunks);
  if (request.headers["content-encoding"] !== "gzip") return body;
  try {
    return await promisify(gunzip)(body, { maxOutputLength: maximumBodyBytes });
  } catch {
    throw new GatewayError("BAD_REQUEST_PARAMETERS");
  }
}

/**
 * The event of a REST API (payload format 1.0), without a body.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html
 */
function eventOf(input: {
  request: IncomingMessage;
  requestId: string;
  match: Match;
  stage: string;
  apiId: string;
  path: string;
  query: string;
  accountId: string;
}) {
  const { request, requestId, match, stage, apiId, path, query, accountId } = input;
  const headers = new Map<string, string[]>();
  const addHeader = (name: string, value: string) => headers.set(name, [...(headers.get(name) ?? []), value]);
  const added = new Set(["x-forwarded-for", "x-forwarded-proto", "x-forwarded-port"]);
  for (let index = 0; index < request.rawHeaders.length; index += 2) {
    const name = request.rawHeaders[index] ?? "";
    if (!added.has(name.toLowerCase())) addHeader(name, request.rawHeaders[index + 1] ?? "");
  }
  const sourceIp = (request.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  const forwarded = [request.headers["x-forwarded-for"] ?? [], sourceIp].flat().join(", ");
  addHeader("X-Forwarded-For", forwarded);
  addHeader("X-Forwarded-Proto", "http");
  addHeader("X-Forwarded-Port", String(request.socket.localPort));

  const parameters = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(query)) {
    parameters.set(name, [...(parameters.get(name) ?? []), value]);
  }
  const now = Date.now();
  return {
    resource: match.resourcePath,
    path,
    httpMethod: request.method ?? "GET",
    headers: lastOf(headers),
    multiValueHeaders: allOf(headers),
    queryStringParameters: parameters.size === 0 ? null : lastOf(parameters),
    multiValueQueryStringParameters: parameters.size === 0 ? null : allOf(parameters),
    pathParameters: match.pathParameters,
    stageVariables: null,
    requestContext: {
      accountId,
      apiId,
      domainName: request.headers.host ?? "127.0.0.1",
      extendedRequestId: requestId,
      httpMethod: request.method ?? "GET",
      identity: { sourceIp, userAgent: request.headers["user-agent"] ?? null },
      path: `/${stage}${path}`,
      protocol: `HTTP/${request.httpVersion}`,
      requestId,
      requestTime: new Date(now).toUTCString(),
      requestTimeEpoch: now,
      resourceId: match.resourceId,
      resourcePath: match.resourcePath,
      stage,
    },
  };
}

/** Own properties only, so that a header or parameter named `__proto__` is one like any other. */
const allOf = (values: Map<string, string[]>): Record<string, string[]> => Object.fromEntries(values);
const lastOf = (values: Map<string, string[]>): Record<string, string> =>
  Object.fromEntries([...values].map(([name, all]) => [name, all.at(-1) ?? ""]));

/** An explicit Deny wins; nothing that allows is a denial too. */
function allows(statements: unknown[], methodArn: string): boolean {
  let allowed = false;
  for (const statement of statements as { Effect: string; Action: unknown; Resource: unknown }[]) {
    const isMeant =
      [statement.Action].flat().some((action) => matches(String(action), "execute-api:Invoke")) &&
      [statement.Resource].flat().some((resource) => matches(String(resource), methodArn));
    if (isMeant && statement.Effect === "Deny") return false;
    allowed ||= isMeant && statement.Effect === "Allow";
  }
  return allowed;
}

function matches(pattern: string, value: string): boolean {
  const expression = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", ".*")
    .replaceAll("?", ".");
  return new RegExp(`^${expression}$`, "s").test(value);
}

function isProxyReply(payload: unknown): payload is ProxyReply {
  if (typeof payload !== "object" || payload === null) return false;
  const { statusCode, body } = payload as Record<string, unknown>;
  return (
    Number.isInteger(Number(statusCode)) &&
    statusCode !== undefined &&
    (body === undefined || body === null || typeof body === "string")
  );
}

async function send(
  request: IncomingMessage,
  response: ServerResponse,
  reply: GatewayReply | ProxyReply,
  { requestId, minimumCompressionBytes }: { requestId: string; minimumCompressionBytes: number | undefined },
): Promise<void> {
  const status = "status" in reply ? reply.status : Number(reply.statusCode);
  const isBase64 = "isBase64Encoded" in reply && reply.isBase64Encoded === true;
  let body = Buffer.from(reply.body ?? "", isBase64 ? "base64" : "utf8");
  response.setHeader("x-amzn-RequestId", requestId);
  response.setHeader("Content-Type", "application/json");
  const multiValue = "multiValueHeaders" in reply ? (reply.multiValueHeaders ?? {}) : {};
  for (const [name, value] of [...Object.entries(reply.headers ?? {}), ...Object.entries(multiValue)]) {
    if (droppedReplyHeaders.has(name.toLowerCase())) continue;
    response.setHeader(name, Array.isArray(value) ? value.map(String) : String(value));
  }
  const acceptsGzip = /\bgzip\b/i.test(String(request.headers["accept-encoding"] ?? ""));
  if (minimumCompressionBytes !== undefined && body.length >= minimumCompressionBytes && acceptsGzip) {
    body = await promisify(gzip)(body);
    response.setHeader("Content-Encoding", "gzip");
  }
  response.writeHead(status, { "Content-Length": String(body.length) });
  response.end(request.method === "HEAD" ? undefined : body);
  request.resume();
}
