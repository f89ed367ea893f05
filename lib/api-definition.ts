/**
 * The API as one OpenAPI document with API Gateway's extensions. As resources of CloudFormation its paths and methods
 * would be two thirds of the stack, which may have 500.
 */
import { Aws } from "aws-cdk-lib";
import { askedBy, type Route } from "../shared/contract/endpoint.ts";
import { gatewayResponses } from "./gateway-responses.ts";
import type { Options } from "./options.ts";
import type { ServiceFunction } from "./service-function.ts";

/** A part of the API: the first segment of its paths, and each of its routes with the function of its endpoint. */
export type ApiPart = {
  name: "v1" | "dashboard";
  routes: readonly { route: Route; function: ServiceFunction }[];
};

export type ApiFunctions = {
  parts: readonly ApiPart[];
  authorize: ServiceFunction;
  /** Answers every method and path that no route declares. */
  refuseRoute: ServiceFunction;
  /** Answers requests under /app, and leads there from the root. */
  serveDashboard: ServiceFunction;
  /** Answers requests of directories, whose tokens it looks at itself. */
  scim: ServiceFunction;
};

/** What the page's function answers, for everybody. The root only leads to the page. */
export const pagePaths = ["/app", "/app/{proxy+}"] as const;

/** What directories call (RFC 7644). */
export const scimPath = "/scim/v2/{proxy+}";

export const scimMethods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const anyMethod = "x-amazon-apigateway-any-method";

/** The path itself and those above it, up to the part's own: `/v1`, `/v1/emails`, `/v1/emails/{id}`. */
const pathsDownTo = (path: string): string[] => {
  const segments = path.split("/").slice(1);
  return segments.map((_, at) => `/${segments.slice(0, at + 1).join("/")}`);
};

/** `invokerArn`: of the role in which API Gateway invokes the functions. */
export function apiDefinition(
  title: string,
  { parts, authorize, refuseRoute, serveDashboard, scim }: ApiFunctions,
  invokerArn: string,
  options: Options,
): object {
  const uriOf = ({ arn }: ServiceFunction): string =>
    `arn:${Aws.PARTITION}:apigateway:${Aws.REGION}:lambda:path/2015-03-31/functions/${arn}/invocations`;
  const answeredBy = (answering: ServiceFunction) => ({
    responses: {},
    "x-amazon-apigateway-integration": {
      type: "aws_proxy",
      httpMethod: "POST",
      uri: uriOf(answering),
      credentials: invokerArn,
    },
  });
  const authorized = (answering: ServiceFunction) => ({
    security: [{ authorizer: [] }],
    ...answeredBy(answering),
  });

  const paths: Record<string, Record<string, object>> = {};
  const add = (path: string, method: string, operation: object): void => {
    paths[path] = { ...paths[path], [method]: operation };
  };
  const refusal = authorized(refuseRoute);
  for (const { name, routes } of parts) {
    add(`/${name}`, anyMethod, refusal);
    add(`/${name}/{proxy+}`, anyMethod, refusal);
    for (const { route, function: endpoint } of routes) {
      const path = `/${name}${route.path}`;
      for (const method of askedBy(route)) add(path, method.toLowerCase(), authorized(endpoint));
      for (const above of pathsDownTo(path)) add(above, anyMethod, refusal);
    }
  }
  const page = answeredBy(serveDashboard);
  for (const path of ["/", ...pagePaths]) add(path, anyMethod, page);
  for (const above of ["/scim", "/scim/v2"]) add(above, anyMethod, refusal);
  add(scimPath, anyMethod, answeredBy(scim));
  // By themselves, because they have limits of their own.
  for (const method of scimMethods) add(scimPath, method.toLowerCase(), answeredBy(scim));
  for (const path of pagePaths) add(path, "get", page);

  return {
    openapi: "3.0.1",
    info: { title, version: "1" },
    paths,
    components: {
      securitySchemes: {
        authorizer: {
          type: "apiKey",
          // API Gateway asks for these of every REQUEST authorizer, and for this name.
          name: "Unused",
          in: "header",
          "x-amazon-apigateway-authtype": "custom",
          "x-amazon-apigateway-authorizer": {
            type: "request",
            authorizerUri: uriOf(authorize),
            authorizerCredentials: invokerArn,
            // Without a cache a revoked key fails on the very next request. With identity sources API Gateway
            // itself would answer requests that lack them, and these would not be counted.
            authorizerResultTtlInSeconds: 0,
          },
        },
      },
    },
    "x-amazon-apigateway-gateway-responses": gatewayResponses(options),
  };
}
