/**
 * The template's REST API on 127.0.0.1: routes, authorizer, Lambda proxy integrations and gateway responses,
 * with Amazon API Gateway's limits of sizes. Not emulated: caching, access logs, limits of requests a second.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Lambda } from "../lambda/lambda.ts";
import { serveOnLoopback } from "../loopback.ts";
import type { Assembly } from "../template/assembly.ts";
import { authorize } from "./authorizer.ts";
import { compress } from "./compression.ts";
import { type GatewayResponseDocument, type HttpReply, readGatewayResponses } from "./gateway-response.ts";
import { integrate } from "./integration.ts";
import { Refused } from "./refusal.ts";
import {
  BodyTooLong,
  type GatewayRequest,
  type RoutedRequest,
  readBody,
  readRequest,
  refuseLongHeaders,
} from "./request.ts";
import { type ApiDocument, readRoutes } from "./routes.ts";

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
  /** Sees every request first, and answers those for which it returns true. */
  answerLocal?: (request: IncomingMessage, response: ServerResponse) => boolean;
};

/** Longer than the gateway's own limit, so that the gateway and not Node.js refuses long headers. */
const maximumReadHeaderBytes = 65_536;

/** Rejects if the port is taken. */
export const startGateway = async ({
  assembly,
  lambda,
  port,
  answerLocal,
}: GatewayOptions): Promise<Gateway> => {
  const api = readApi(assembly);
  const responses = readGatewayResponses(api.document);
  const integration = { lambda, isBinary: api.isBinary };

  const reply = async (
    request: GatewayRequest,
    incoming: IncomingMessage,
    body: Buffer,
  ): Promise<HttpReply> => {
    try {
      refuseLongHeaders(incoming);
      const routed = api.route(request);
      const { authorizer } = routed.route;
      const context = authorizer && (await authorize(lambda, authorizer, routed));
      return await integrate(integration, routed, context, body);
    } catch (error) {
      if (error instanceof Refused) return responses.answer(error.refusal, request);
      throw error;
    }
  };

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const request = readRequest(incoming);
    const body = await readBody(incoming).catch((error: unknown) => {
      if (error instanceof BodyTooLong) return error;
      throw error;
    });
    if (body instanceof BodyTooLong) return refuseLongBody(outgoing, body);
    const answered = api.isOfStage(request) ? await reply(request, incoming, body) : forbidden();
    const { minimumCompressionBytes: minimumBytes } = api;
    send(
      outgoing,
      request,
      minimumBytes === undefined ? answered : compress(answered, request, minimumBytes),
    );
  };

  const server = await serveOnLoopback(
    (incoming, outgoing) => {
      if (answerLocal?.(incoming, outgoing) === true) return;
      // Every failure of a function has an answer, so an error here means that the client went away.
      answer(incoming, outgoing).catch(() => outgoing.destroy());
    },
    { port, maxHeaderSize: maximumReadHeaderBytes },
  );
  return { url: `${server.url}/${api.stage}`, close: server.close };
};

type ApiProperties = {
  Body?: ApiDocument & GatewayResponseDocument;
  BinaryMediaTypes?: string[];
  MinimumCompressionSize?: number;
};

type Api = {
  document: ApiDocument & GatewayResponseDocument;
  stage: string;
  isOfStage(request: GatewayRequest): boolean;
  /** Throws `Refused` if no route answers the request. */
  route(request: GatewayRequest): RoutedRequest;
  /** Whether bodies of a media type cross the boundary of a function as base64. */
  isBinary(contentType?: string): boolean;
  /** The shortest body that is compressed; undefined if none is. */
  minimumCompressionBytes: number | undefined;
};

/** Reads the template's REST API and its stage. */
const readApi = (assembly: Assembly): Api => {
  const [api] = assembly.ofType<ApiProperties>("AWS::ApiGateway::RestApi");
  const [declaredStage] = assembly.ofType<{ StageName: string }>("AWS::ApiGateway::Stage");
  if (api === undefined || declaredStage === undefined) throw new Error("The template has no REST API");
  const { Body: document } = api.properties;
  if (document === undefined) throw new Error(`${api.logicalId} has no OpenAPI document`);
  const apiId = assembly.physicalId(api.logicalId);
  const stage = declaredStage.properties.StageName;
  const { accountId, region } = assembly;
  const routes = readRoutes(assembly, document);
  const binaryMediaTypes = new Set(api.properties.BinaryMediaTypes);
  return {
    document,
    stage,
    isOfStage: ({ path }) => path === `/${stage}` || path.startsWith(`/${stage}/`),
    route: (request) => {
      const resourcePath = request.path.slice(stage.length + 1) || "/";
      const matched = routes.find(request.method, resourcePath);
      if (matched === undefined) throw new Refused({ type: "MISSING_AUTHENTICATION_TOKEN" });
      const decoded = Object.entries(matched.parameters).map(([name, value]) => [name, decodePath(value)]);
      const pathParameters: Record<string, string> = Object.fromEntries(decoded);
      return {
        ...request,
        resourcePath,
        pathParameters,
        route: matched.route,
        stage,
        apiId,
        accountId,
        region,
      };
    },
    isBinary: (contentType = "") =>
      binaryMediaTypes.has("*/*") || binaryMediaTypes.has(contentType.split(/[;,]/)[0]?.trim() ?? ""),
    minimumCompressionBytes: api.properties.MinimumCompressionSize,
  };
};

const decodePath = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refused({ type: "DEFAULT_4XX" });
  }
};

/** AWS's answer where there is no API or no stage. No template can change it. */
const forbidden = (): HttpReply => ({
  status: 403,
  headers: [["Content-Type", "application/json"]],
  body: Buffer.from('{"message":"Forbidden"}'),
});

/** Comes before everything else that API Gateway does: without a gateway response, and without an id. */
const refuseLongBody = (outgoing: ServerResponse, { message }: BodyTooLong): void => {
  outgoing.writeHead(413, { "Content-Type": "text/plain; charset=utf-8", "Content-Length": message.length });
  outgoing.end(message);
};

const send = (outgoing: ServerResponse, request: GatewayRequest, reply: HttpReply): void => {
  const headers = [
    ["x-amzn-RequestId", request.id],
    ["x-amz-apigw-id", request.extendedId],
    ...reply.headers,
    ["Content-Length", String(reply.body.length)],
  ];
  outgoing.writeHead(reply.status, headers.flat());
  outgoing.end(reply.body);
};
