/** The paths and methods of the API's OpenAPI document, and which of them answers a request. */

import { statementsOf } from "../iam/iam.ts";
import { decide } from "../iam/policy.ts";
import type { Assembly } from "../template/assembly.ts";

export type Route = {
  /** The resource's path as declared: `/v1/emails/{id}`. */
  resourcePath: string;
  functionArn: string;
  /** Whether the role of the integration lets the API invoke it. */
  isInvocable: boolean;
  timeoutSeconds: number;
  authorizer: Authorizer | undefined;
};

export type Authorizer = {
  functionArn: string;
  isInvocable: boolean;
};

export type RouteTable = {
  /** The route of a raw path without the stage, and its path parameters, still encoded. */
  find(method: string, path: string): { route: Route; parameters: Record<string, string> } | undefined;
};

type Integration = { type: string; uri?: string; credentials?: string; timeoutInMillis?: number };
type Operation = {
  /** Alternatives; each names schemes that must all let a request through. */
  security?: Record<string, unknown>[];
  "x-amazon-apigateway-integration"?: Integration;
};
type SecurityScheme = {
  "x-amazon-apigateway-authorizer"?: {
    type: string;
    authorizerUri: string;
    authorizerCredentials?: string;
  };
};

/** An OpenAPI document with API Gateway's extensions. */
export type ApiDocument = {
  paths: Record<string, Record<string, Operation>>;
  components?: { securitySchemes?: Record<string, SecurityScheme> };
};

type RoleProperties = {
  AssumeRolePolicyDocument: {
    Statement: { Effect: string; Principal: { Service?: string | string[] } }[];
  };
};

/** A segment of a path, with what may follow it, and the routes that end here by their methods. */
type Node = { children: Map<string, Node>; routes: Map<string, Route> };

const anyMethod = "x-amazon-apigateway-any-method";
const methods = ["get", "put", "post", "delete", "options", "head", "patch", anyMethod];
const defaultTimeoutMilliseconds = 29_000;

/**
 * Throws for features that are not emulated: methods other than Lambda proxies, authorizers other than
 * REQUEST.
 */
export const readRoutes = (assembly: Assembly, { paths, components }: ApiDocument): RouteTable => {
  const readAuthorizer = (name: string): Authorizer => {
    const { type, authorizerUri, authorizerCredentials } =
      components?.securitySchemes?.[name]?.["x-amazon-apigateway-authorizer"] ?? {};
    if (type !== "request" || authorizerUri === undefined || authorizerCredentials === undefined)
      throw new Error(`The security scheme ${name} is not a REQUEST authorizer with a role`);
    const functionArn = functionOf(authorizerUri);
    return { functionArn, isInvocable: isInvocableWith(assembly, authorizerCredentials, functionArn) };
  };

  const readRoute = (resourcePath: string, method: string, operation: Operation): Route => {
    if (!methods.includes(method)) throw new Error(`${resourcePath} has ${method}, which is not a method`);
    const {
      type,
      uri,
      credentials,
      timeoutInMillis = defaultTimeoutMilliseconds,
    } = operation["x-amazon-apigateway-integration"] ?? {};
    if (type !== "aws_proxy" || uri === undefined || credentials === undefined)
      throw new Error(`${method} ${resourcePath} is not a Lambda proxy with a role`);
    const [scheme, ...rest] = (operation.security ?? []).flatMap((schemes) => Object.keys(schemes));
    if (rest.length > 0) throw new Error(`${method} ${resourcePath} has several authorizers`);
    const functionArn = functionOf(uri);
    return {
      resourcePath,
      functionArn,
      isInvocable: isInvocableWith(assembly, credentials, functionArn),
      timeoutSeconds: timeoutInMillis / 1000,
      authorizer: scheme === undefined ? undefined : readAuthorizer(scheme),
    };
  };

  const root = emptyNode();
  for (const [path, operations] of Object.entries(paths)) {
    const { routes } = nodeAt(root, path);
    for (const [method, operation] of Object.entries(operations))
      routes.set(method, readRoute(path, method, operation));
  }

  return {
    find: (method, path) => {
      const segments = path.split("/").slice(1);
      // A slash at the end makes no difference.
      if (segments.at(-1) === "") segments.pop();
      const matched = match(root, segments);
      const route = matched?.node.routes.get(method.toLowerCase()) ?? matched?.node.routes.get(anyMethod);
      return matched === undefined || route === undefined
        ? undefined
        : { route, parameters: matched.parameters };
    },
  };
};

/** Whether API Gateway may assume a role, and the role may invoke the function. */
const isInvocableWith = (assembly: Assembly, roleArn: string, functionArn: string): boolean => {
  const role = assembly.logicalIdOf(roleArn);
  if (role === undefined) return false;
  const trust = assembly.resource<RoleProperties>(role).properties.AssumeRolePolicyDocument.Statement;
  const isTrusted = trust.some(
    ({ Effect, Principal }) =>
      Effect === "Allow" && [Principal.Service].flat().includes("apigateway.amazonaws.com"),
  );
  const statements = statementsOf(assembly, roleArn);
  return isTrusted && decide(statements, "lambda:InvokeFunction", functionArn) === "allow";
};

const emptyNode = (): Node => ({ children: new Map(), routes: new Map() });

/** The node of a declared path, which is made with those above it. */
const nodeAt = (root: Node, path: string): Node => {
  let node = root;
  for (const segment of path.split("/").filter(Boolean)) {
    const child = node.children.get(segment) ?? emptyNode();
    node.children.set(segment, child);
    node = child;
  }
  return node;
};

type Match = { node: Node; parameters: Record<string, string> };

/** The most specific path: a literal segment wins over `{name}`, and `{name}` over `{name+}`. */
const match = (node: Node, segments: string[]): Match | undefined => {
  const [first, ...rest] = segments;
  if (first === undefined) return node.routes.size > 0 ? { node, parameters: {} } : undefined;
  const literal = node.children.get(first);
  const matched = literal === undefined ? undefined : match(literal, rest);
  if (matched !== undefined) return matched;
  for (const [segment, child] of node.children) {
    const name = /^\{([^+]+)\}$/.exec(segment)?.[1];
    const inside = name === undefined || first === "" ? undefined : match(child, rest);
    if (name !== undefined && inside !== undefined) {
      return { ...inside, parameters: { ...inside.parameters, [name]: first } };
    }
  }
  for (const [segment, child] of node.children) {
    const name = /^\{(.+)\+\}$/.exec(segment)?.[1];
    if (name !== undefined && child.routes.size > 0) {
      return { node: child, parameters: { [name]: segments.join("/") } };
    }
  }
  return undefined;
};

/**
 * The function's ARN in the URI of an integration or authorizer,
 * `…:lambda:path/2015-03-31/functions/ARN/invocations`.
 */
const functionOf = (uri: string): string => {
  const arn = /\/functions\/(.+)\/invocations$/.exec(uri)?.[1];
  if (arn === undefined) throw new Error(`${uri} names no function`);
  return arn;
};
