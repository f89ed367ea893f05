/** The events that a REST API hands to functions: AWS_PROXY integrations (payload 1.0) and REQUEST authorizers. */
import type { IncomingMessage } from "node:http";
import type { Route } from "./routes.ts";

type Pairs = [name: string, value: string][];
type Single = Record<string, string>;
type Multiple = Record<string, string[]>;

/** A request that has come in, before it is known what answers it. */
export type GatewayRequest = {
  id: string;
  extendedId: string;
  /** Unix time in milliseconds. */
  receivedAt: number;
  method: string;
  /** Raw, beginning with the stage: `/api/v1/emails`. */
  path: string;
  /** As the client sent them, plus the gateway's own. */
  headers: Pairs;
  query: Pairs;
  sourceIp: string;
};

/** Where a request was routed to. */
export type RoutedRequest = GatewayRequest & {
  /** The raw path without the stage. */
  resourcePath: string;
  /** Decoded. */
  pathParameters: Single;
  route: Route;
  stage: string;
  apiId: string;
  accountId: string;
  region: string;
};

export type AuthorizerContext = {
  principalId: string;
  integrationLatency: number;
  [key: string]: string | number;
};

/** Headers the gateway sets itself, whatever the client sent. */
const gatewayHeaders = new Set([
  "x-amzn-trace-id",
  "x-forwarded-for",
  "x-forwarded-port",
  "x-forwarded-proto",
]);

export function readRequest(request: IncomingMessage, id: string, extendedId: string): GatewayRequest {
  const { pathname, search } = splitUrl(request.url ?? "/");
  const sourceIp = (request.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  const sent = pairsOf(request.rawHeaders);
  const forwardedFor = sent
    .filter(([name]) => name.toLowerCase() === "x-forwarded-for")
    .map(([, value]) => value);
  const receivedAt = Date.now();
  const traceId = `Root=1-${Math.floor(receivedAt / 1000).toString(16)}-${id.replaceAll("-", "").slice(0, 24)}`;
  return {
    id,
    extendedId,
    receivedAt,
    method: request.method ?? "GET",
    path: pathname,
    headers: [
      ...sent.filter(([name]) => !gatewayHeaders.has(name.toLowerCase())),
      ["X-Amzn-Trace-Id", traceId],
      ["X-Forwarded-For", [...forwardedFor, sourceIp].join(", ")],
      ["X-Forwarded-Port", String(request.socket.localPort)],
      ["X-Forwarded-Proto", "http"],
    ],
    query: [...new URLSearchParams(search)],
    sourceIp,
  };
}

function splitUrl(url: string): { pathname: string; search: string } {
  // The target may be absolute, as to a proxy.
  const target = url.replace(/^https?:\/\/[^/?#]*/i, "");
  const [beforeFragment = ""] = target.split("#");
  const question = beforeFragment.indexOf("?");
  return question === -1
    ? { pathname: beforeFragment, search: "" }
    : { pathname: beforeFragment.slice(0, question), search: beforeFragment.slice(question + 1) };
}

function pairsOf(rawHeaders: string[]): Pairs {
  const pairs: Pairs = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    pairs.push([rawHeaders[index] ?? "", rawHeaders[index + 1] ?? ""]);
  }
  return pairs;
}

/** The first value of a header, whatever the case of its name. */
export function headerOf({ headers }: GatewayRequest, name: string): string | undefined {
  return headers.find(([candidate]) => candidate.toLowerCase() === name)?.[1];
}

/** `body` undefined is none; binary media types come as base64. */
export function proxyEvent(
  request: RoutedRequest,
  authorizer: AuthorizerContext | undefined,
  body: { text: string; isBase64Encoded: boolean } | undefined,
): object {
  return {
    resource: request.route.resourcePath,
    path: request.resourcePath,
    httpMethod: request.method,
    headers: orNull(lastValues(request.headers)),
    multiValueHeaders: orNull(allValues(request.headers)),
    queryStringParameters: orNull(lastValues(request.query)),
    multiValueQueryStringParameters: orNull(allValues(request.query)),
    pathParameters: orNull(request.pathParameters),
    stageVariables: null,
    requestContext: { ...requestContext(request), ...(authorizer === undefined ? {} : { authorizer }) },
    body: body?.text ?? null,
    isBase64Encoded: body?.isBase64Encoded ?? false,
  };
}

export function methodArn({ region, accountId, apiId, stage, method, resourcePath }: RoutedRequest): string {
  return `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage}/${method}${resourcePath}`;
}

/** Unlike in a proxy event, what is missing is an empty object here, not null. */
export function authorizerEvent(request: RoutedRequest): object {
  return {
    type: "REQUEST",
    methodArn: methodArn(request),
    resource: request.route.resourcePath,
    path: request.resourcePath,
    httpMethod: request.method,
    headers: lastValues(request.headers),
    multiValueHeaders: allValues(request.headers),
    queryStringParameters: lastValues(request.query),
    multiValueQueryStringParameters: allValues(request.query),
    pathParameters: request.pathParameters,
    stageVariables: {},
    requestContext: requestContext(request),
  };
}

function requestContext(request: RoutedRequest): object {
  const host = headerOf(request, "host") ?? "";
  return {
    accountId: request.accountId,
    apiId: request.apiId,
    domainName: host,
    domainPrefix: host.split(".")[0],
    extendedRequestId: request.extendedId,
    httpMethod: request.method,
    identity: {
      accessKey: null,
      accountId: null,
      caller: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp: request.sourceIp,
      user: null,
      userAgent: headerOf(request, "user-agent") ?? null,
      userArn: null,
    },
    path: request.path,
    protocol: "HTTP/1.1",
    requestId: request.id,
    requestTime: logTime(new Date(request.receivedAt)),
    requestTimeEpoch: request.receivedAt,
    resourceId: request.route.resourceId,
    resourcePath: request.route.resourcePath,
    stage: request.stage,
  };
}

/** `09/Apr/2015:12:34:56 +0000`. */
function logTime(time: Date): string {
  const [, day, month, year, clock] = /^\w+, (\d+) (\w+) (\d+) ([\d:]+) GMT$/.exec(time.toUTCString()) ?? [];
  return `${day}/${month}/${year}:${clock} +0000`;
}

function lastValues(pairs: Pairs): Single {
  return Object.fromEntries(pairs);
}

function allValues(pairs: Pairs): Multiple {
  // Without a prototype: a name such as __proto__ is a name like any other.
  const values: Multiple = Object.create(null);
  for (const [name, value] of pairs) {
    values[name] ??= [];
    values[name].push(value);
  }
  return values;
}

function orNull<Values extends object>(values: Values): Values | null {
  return Object.keys(values).length === 0 ? null : values;
}
