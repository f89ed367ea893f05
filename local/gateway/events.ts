/** Events for functions: of AWS_PROXY integrations (payload format 1.0) and of REQUEST authorizers. */
import { headerOf, type Pairs, type RoutedRequest } from "./request.ts";

export type AuthorizerContext = {
  principalId: string;
  integrationLatency: number;
  [key: string]: string | number;
};

/** The event of an integration. `body` is undefined for an empty one; binary media types come as base64. */
export const proxyEvent = (
  request: RoutedRequest,
  authorizer: AuthorizerContext | undefined,
  body: { text: string; isBase64Encoded: boolean } | undefined,
): object => {
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
};

export const methodArn = ({ region, accountId, apiId, stage, method, resourcePath }: RoutedRequest): string =>
  `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage}/${method}${resourcePath}`;

/** The event of an authorizer. Unlike in a proxy event, a missing part is an empty object, not null. */
export const authorizerEvent = (request: RoutedRequest): object => ({
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
});

/** What functions read of it, and what tells requests apart. */
const requestContext = (request: RoutedRequest): object => ({
  accountId: request.accountId,
  apiId: request.apiId,
  domainName: headerOf(request, "host") ?? "",
  extendedRequestId: request.extendedId,
  httpMethod: request.method,
  identity: { sourceIp: request.sourceIp, userAgent: headerOf(request, "user-agent") ?? null },
  path: request.path,
  protocol: "HTTP/1.1",
  requestId: request.id,
  requestTimeEpoch: request.receivedAt,
  resourcePath: request.route.resourcePath,
  stage: request.stage,
});

const lastValues = (pairs: Pairs): Record<string, string> => Object.fromEntries(pairs);

const allValues = (pairs: Pairs): Record<string, string[]> => {
  // Without a prototype, so that a name such as __proto__ is a name like any other.
  const values: Record<string, string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    values[name] ??= [];
    values[name].push(value);
  }
  return values;
};

const orNull = <Values extends object>(values: Values): Values | null =>
  Object.keys(values).length === 0 ? null : values;
