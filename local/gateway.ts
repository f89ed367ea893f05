/**
 * The template's REST API on 127.0.0.1: routes, authorizer, Lambda proxy integrations and gateway responses, with the limits
 * that Amazon API Gateway has. Not emulated: throttling, caching, access logs.
 */
import { randomBytes, randomUUID } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from "node:http";
import type { AddressInfo } from "node:net";
import { constants, deflateSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import type { Assembly } from "./assembly.ts";
import { type HttpReply, type Refusal, readGatewayResponses } from "./gateway-response.ts";
import { decide, type PolicyDocument } from "./iam.ts";
import type { InvocationResult, Lambda } from "./lambda.ts";
import {
  type AuthorizerContext,
  authorizerEvent,
  type GatewayRequest,
  headerOf,
  methodArn,
  proxyEvent,
  type RoutedRequest,
  readRequest,
} from "./proxy-event.ts";
import { type Authorizer, readRoutes } from "./routes.ts";

export type Gateway = {
  /** The invoke URL: `http://127.0.0.1:PORT/<stage>`. */
  url: string;
  close(): Promise<void>;
};

export type GatewayOptions = {
  assembly: Assembly;
  lambda: Pick<Lambda, "invoke">;
  /** 0 takes a free one. */
  port: number;
  /** Sees every request first, and answers those it returns true for. */
  answerLocal?: (request: IncomingMessage, response: ServerResponse) => boolean;
};

type ApiProperties = { BinaryMediaTypes?: string[]; MinimumCompressionSize?: number };

const maximumPayloadBytes = 10 * 1024 * 1024;
/** Of the request line and all headers together. */
const maximumHeaderBytes = 10_240;
const authorizerTimeoutSeconds = 29;

/** Thrown where the gateway itself has to answer. */
class Refused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal) {
    super(refusal.type);
    this.refusal = refusal;
  }
}

/** Rejects if the port cannot be had. */
export async function startGateway({
  assembly,
  lambda,
  port,
  answerLocal,
}: GatewayOptions): Promise<Gateway> {
  const [api] = assembly.ofType<ApiProperties>("AWS::ApiGateway::RestApi");
  const [declaredStage] = assembly.ofType<{ StageName: string }>("AWS::ApiGateway::Stage");
  if (api === undefined || declaredStage === undefined) throw new Error("The template has no REST API");
  const apiId = assembly.physicalId(api.logicalId);
  const stage = declaredStage.properties.StageName;
  const routes = readRoutes(assembly, apiId, stage);
  const gatewayResponses = readGatewayResponses(assembly);
  const binaryMediaTypes = new Set(api.properties.BinaryMediaTypes);
  const isBinary = (contentType = "") =>
    binaryMediaTypes.has("*/*") || binaryMediaTypes.has(contentType.split(/[;,]/)[0]?.trim() ?? "");

  function route(request: GatewayRequest): RoutedRequest {
    const resourcePath = request.path.slice(stage.length + 1) || "/";
    const found = routes.find(request.method, resourcePath);
    if (found === undefined) throw new Refused({ type: "MISSING_AUTHENTICATION_TOKEN" });
    const decoded = Object.entries(found.parameters).map(([name, value]) => [name, decodePath(value)]);
    const pathParameters: Record<string, string> = Object.fromEntries(decoded);
    const { accountId, region } = assembly;
    return { ...request, resourcePath, pathParameters, route: found.route, stage, apiId, accountId, region };
  }

  async function authorize(authorizer: Authorizer, request: RoutedRequest): Promise<AuthorizerContext> {
    if (!authorizer.isInvocable) throw new Refused({ type: "AUTHORIZER_CONFIGURATION_ERROR" });
    if (!authorizer.identitySources.every((source) => hasIdentity(source, request))) {
      throw new Refused({ type: "UNAUTHORIZED" });
    }
    const startedAt = Date.now();
    const invocation = lambda.invoke(authorizer.functionArn, authorizerEvent(request));
    const result = await within(authorizerTimeoutSeconds, invocation, { type: "AUTHORIZER_FAILURE" });
    if ("functionError" in result) {
      const isRefusal = result.payload.errorMessage === "Unauthorized";
      throw new Refused({ type: isRefusal ? "UNAUTHORIZED" : "AUTHORIZER_FAILURE" });
    }
    return readAuthorization(result.payload, methodArn(request), Date.now() - startedAt);
  }

  async function integrate(request: RoutedRequest, body: Buffer): Promise<HttpReply> {
    const { route } = request;
    const authorizer = route.authorizer && (await authorize(route.authorizer, request));
    if (!route.isInvocable) throw new Refused({ type: "API_CONFIGURATION_ERROR" });
    const { headers, bytes } = decompress(
      request,
      body,
      api?.properties.MinimumCompressionSize !== undefined,
    );
    const isBase64Encoded = isBinary(headerOf(request, "content-type"));
    const text = bytes.toString(isBase64Encoded ? "base64" : "utf8");
    const event = proxyEvent(
      { ...request, headers },
      authorizer,
      bytes.length === 0 ? undefined : { text, isBase64Encoded },
    );
    const invocation = lambda.invoke(route.functionArn, event).catch((error: Error): InvocationResult => {
      // Base64 makes a body that the gateway takes too large for a function.
      if (error.name === "RequestTooLargeException") throw new Refused({ type: "REQUEST_TOO_LARGE" });
      throw error;
    });
    const result = await within(route.timeoutSeconds, invocation, { type: "INTEGRATION_TIMEOUT" });
    const reply = "functionError" in result ? undefined : readReply(result.payload, request, isBinary);
    if (reply === undefined) throw new Refused({ type: "DEFAULT_5XX" });
    return reply;
  }

  async function reply(request: GatewayRequest, incoming: IncomingMessage): Promise<HttpReply> {
    try {
      if (headerBytes(incoming) > maximumHeaderBytes) {
        throw new Refused({ type: "DEFAULT_4XX", status: 431, message: "Request Header Fields Too Large" });
      }
      return await integrate(route(request), await readBody(incoming));
    } catch (error) {
      if (error instanceof Refused) return gatewayResponses.answer(error.refusal, request);
      throw error;
    }
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const request = readRequest(incoming, randomUUID(), randomBytes(9).toString("base64"));
    const isStage = request.path === `/${stage}` || request.path.startsWith(`/${stage}/`);
    const answered = isStage ? await reply(request, incoming) : forbidden();
    const sent = compress(answered, request, api?.properties.MinimumCompressionSize);
    const headers = [
      ["x-amzn-RequestId", request.id],
      ["x-amz-apigw-id", request.extendedId],
      ...sent.headers,
      ["Content-Length", String(sent.body.length)],
    ];
    outgoing.writeHead(sent.status, headers.flat());
    outgoing.end(sent.body);
  }

  const server = createServer({ maxHeaderSize: 65_536 }, (incoming, outgoing) => {
    if (answerLocal?.(incoming, outgoing) === true) return;
    // What fails beyond the gateway's own answers is the connection: the client went away.
    answer(incoming, outgoing).catch(() => outgoing.destroy());
  });
  // As on AWS, so that clients who keep connections do not meet one that is just being closed.
  server.keepAliveTimeout = 310_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${stage}`,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** AWS answers thus where there is no API or no stage, and no template can change that. */
function forbidden(): HttpReply {
  return {
    status: 403,
    headers: [["Content-Type", "application/json"]],
    body: Buffer.from('{"message":"Forbidden"}'),
  };
}

function headerBytes(incoming: IncomingMessage): number {
  const lines = incoming.rawHeaders.reduce((bytes, part) => bytes + part.length + 2, 0);
  return lines + (incoming.url ?? "").length + (incoming.method ?? "").length;
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const tooLarge: Refusal = {
    type: "REQUEST_TOO_LARGE",
    message: `HTTP content length exceeded ${maximumPayloadBytes} bytes.`,
  };
  if (Number(incoming.headers["content-length"] ?? 0) > maximumPayloadBytes) throw new Refused(tooLarge);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      // What comes after the limit is read and dropped: closing the connection would lose the answer on its way.
      if (bytes <= maximumPayloadBytes) chunks.push(chunk);
      else reject(new Refused(tooLarge));
    });
    incoming.on("end", () => resolve(Buffer.concat(chunks)));
    incoming.on("error", reject);
  });
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refused({ type: "DEFAULT_4XX" });
  }
}

function hasIdentity(source: string, request: GatewayRequest): boolean {
  const [, kind, name = ""] = /^method\.request\.(header|querystring)\.(.+)$/.exec(source.trim()) ?? [];
  if (kind === "header") return Boolean(headerOf(request, name.toLowerCase()));
  if (kind === "querystring")
    return request.query.some(([candidate, value]) => candidate === name && value !== "");
  return true;
}

/** What an authorizer's answer comes to for one method: the context that the integration gets, or a refusal. */
function readAuthorization(answer: unknown, arn: string, integrationLatency: number): AuthorizerContext {
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
  const statements = [policyDocument.Statement].flat();
  const decision = decide(statements, "execute-api:Invoke", arn, {});
  if (decision !== "allow") {
    const explicit = decision === "deny" ? " with an explicit deny in an identity-based policy" : "";
    throw new Refused({
      type: "ACCESS_DENIED",
      message: `User is not authorized to access this resource${explicit}`,
      authorizer: { ...authorizer, principalId },
    });
  }
  return { ...authorizer, principalId, integrationLatency };
}

async function within<Result>(seconds: number, work: Promise<Result>, late: Refusal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Refused(late)), seconds * 1000);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** With compression on, the gateway also takes compressed requests and hands them on plain. */
function decompress(
  request: GatewayRequest,
  body: Buffer,
  isOn: boolean,
): { headers: GatewayRequest["headers"]; bytes: Buffer } {
  const encoding = headerOf(request, "content-encoding")?.toLowerCase();
  if (!isOn || body.length === 0 || (encoding !== "gzip" && encoding !== "deflate")) {
    return { headers: request.headers, bytes: body };
  }
  const headers = request.headers.filter(([name]) => name.toLowerCase() !== "content-encoding");
  try {
    const unpack = encoding === "gzip" ? gunzipSync : inflateSync;
    return { headers, bytes: unpack(body, { maxOutputLength: maximumPayloadBytes }) };
  } catch (error) {
    const isTooLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw new Refused({ type: isTooLarge ? "REQUEST_TOO_LARGE" : "DEFAULT_4XX" });
  }
}

const replyFields = new Set(["statusCode", "headers", "multiValueHeaders", "body", "isBase64Encoded"]);
/** Headers of a function that the gateway does not pass on under their own name. */
const remappedHeaders = new Set([
  "authorization",
  "connection",
  "content-md5",
  "date",
  "host",
  "server",
  "user-agent",
  "via",
  "www-authenticate",
]);
const droppedHeaders = new Set(["content-length", "transfer-encoding"]);

/** A function's answer as HTTP, or undefined if it is malformed. */
function readReply(
  payload: unknown,
  request: GatewayRequest,
  isBinary: (contentType?: string) => boolean,
): HttpReply | undefined {
  if (typeof payload !== "object" || payload === null) return undefined;
  if (!Object.keys(payload).every((field) => replyFields.has(field))) return undefined;
  const { statusCode, headers, multiValueHeaders, body, isBase64Encoded } = payload as Record<
    string,
    unknown
  >;
  const status = Number(statusCode);
  if (!Number.isInteger(status) || status < 100 || status > 599) return undefined;
  if (body !== undefined && body !== null && typeof body !== "string") return undefined;
  const single = Object.entries(headers ?? {});
  const multiple = Object.entries((multiValueHeaders ?? {}) as Record<string, unknown[]>);
  const overridden = new Set(multiple.map(([name]) => name.toLowerCase()));
  const pairs = [
    ...single.filter(([name]) => !overridden.has(name.toLowerCase())),
    ...multiple.flatMap(([name, values]) => values.map((value) => [name, value] as const)),
  ];
  const sent = pairs
    .filter(([name]) => !droppedHeaders.has(name.toLowerCase()))
    .map(([name, value]): [string, string] => [
      remappedHeaders.has(name.toLowerCase()) ? `x-amzn-Remapped-${name}` : name,
      String(value),
    ]);
  if (!sent.every(([name, value]) => isHeader(name, value))) return undefined;
  const hasContentType = sent.some(([name]) => name.toLowerCase() === "content-type");
  const isDecoded = isBase64Encoded === true && isBinary(headerOf(request, "accept"));
  return {
    status,
    headers: [...(hasContentType ? [] : [["Content-Type", "application/json"] as [string, string]]), ...sent],
    body: Buffer.from(body ?? "", isDecoded ? "base64" : "utf8"),
  };
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

function compress(reply: HttpReply, request: GatewayRequest, minimumBytes: number | undefined): HttpReply {
  const isEncoded = reply.headers.some(([name]) => name.toLowerCase() === "content-encoding");
  if (minimumBytes === undefined || reply.body.length < Math.max(1, minimumBytes) || isEncoded) return reply;
  const accepted = (headerOf(request, "accept-encoding") ?? "")
    .toLowerCase()
    .split(",")
    .filter((entry) => !/;\s*q=0(\.0*)?\s*$/.test(entry))
    .map((entry) => entry.split(";")[0]?.trim());
  const encoding = ["gzip", "deflate"].find((candidate) => accepted.includes(candidate));
  if (encoding === undefined) return reply;
  const pack = encoding === "gzip" ? gzipSync : deflateSync;
  return {
    ...reply,
    headers: [...reply.headers, ["Content-Encoding", encoding]],
    body: pack(reply.body, { level: constants.Z_BEST_SPEED }),
  };
}
