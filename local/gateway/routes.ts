/** The resources and methods of the template's REST API, and which of them answers a request. */

import { statementsOf } from "../iam/iam.ts";
import { decide } from "../iam/policy.ts";
import type { Assembly } from "../template/assembly.ts";

export type Route = {
  /** The resource's path as declared: `/v1/emails/{id}`. */
  resourcePath: string;
  resourceId: string;
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

type ResourceProperties = { ParentId: string; PathPart: string };
type MethodProperties = {
  ResourceId: string;
  HttpMethod: string;
  AuthorizationType?: string;
  AuthorizerId?: string;
  Integration?: { Type: string; Uri?: string; TimeoutInMillis?: number; Credentials?: string };
};
type AuthorizerProperties = { AuthorizerUri: string; Type: string };
type RoleProperties = {
  AssumeRolePolicyDocument: {
    Statement: { Effect: string; Principal: { Service?: string | string[] } }[];
  };
};
type PermissionProperties = { FunctionName: string; Principal: string; SourceArn?: string };

/** A resource in the tree of paths, with its methods by name. */
type Node = { path: string; id: string; children: Map<string, Node>; methods: Map<string, Route> };

const defaultTimeoutMilliseconds = 29_000;

/** Throws for what is not emulated: methods other than Lambda proxies, authorizers other than REQUEST. */
export const readRoutes = (assembly: Assembly, apiId: string): RouteTable => {
  const arnPrefix = `arn:aws:execute-api:${assembly.region}:${assembly.accountId}:${apiId}`;
  const { root, nodes } = readTree(assembly, `${apiId}-root`);

  const readAuthorizer = (id: string): Authorizer => {
    const found = assembly
      .ofType<AuthorizerProperties>("AWS::ApiGateway::Authorizer")
      .find(({ logicalId }) => assembly.physicalId(logicalId) === id);
    if (found?.properties.Type !== "REQUEST") throw new Error(`Authorizer ${id} is not of type REQUEST`);
    const functionArn = functionOf(found.properties.AuthorizerUri);
    return {
      functionArn,
      isInvocable: isPermitted(assembly, functionArn, `${arnPrefix}/authorizers/${id}`),
    };
  };

  for (const { logicalId, properties } of assembly.ofType<MethodProperties>("AWS::ApiGateway::Method")) {
    const { HttpMethod, Integration, AuthorizerId } = properties;
    const node = nodes.get(properties.ResourceId);
    const { Type, Uri, Credentials: roleArn, TimeoutInMillis } = Integration ?? {};
    if (node === undefined || Type !== "AWS_PROXY" || Uri === undefined || roleArn === undefined) {
      throw new Error(`Method ${logicalId} is not a Lambda proxy with a role, of a resource of the API`);
    }
    const functionArn = functionOf(Uri);
    node.methods.set(HttpMethod, {
      resourcePath: node.path,
      resourceId: node.id,
      functionArn,
      isInvocable: isInvocableWith(assembly, roleArn, functionArn),
      timeoutSeconds: (TimeoutInMillis ?? defaultTimeoutMilliseconds) / 1000,
      authorizer: AuthorizerId === undefined ? undefined : readAuthorizer(AuthorizerId),
    });
  }

  return {
    find: (method, path) => {
      const segments = path.split("/").slice(1);
      // A slash at the end makes no difference.
      if (segments.at(-1) === "") segments.pop();
      const found = match(root, segments);
      const route = found?.node.methods.get(method) ?? found?.node.methods.get("ANY");
      return found === undefined || route === undefined ? undefined : { route, parameters: found.parameters };
    },
  };
};

/** Whether a function's permissions let the API invoke it on behalf of a source with this ARN. */
const isPermitted = (assembly: Assembly, functionArn: string, sourceArn: string): boolean =>
  assembly
    .ofType<PermissionProperties>("AWS::Lambda::Permission")
    .some(
      ({ properties: { FunctionName, Principal, SourceArn = "*" } }) =>
        FunctionName === functionArn &&
        Principal === "apigateway.amazonaws.com" &&
        decide([{ Effect: "Allow", Action: "*", Resource: SourceArn }], "", sourceArn) === "allow",
    );

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

/** The API's resources without their methods: the root of their tree, and all by id. */
const readTree = (assembly: Assembly, rootId: string): { root: Node; nodes: Map<string, Node> } => {
  const root: Node = { path: "/", id: rootId, children: new Map(), methods: new Map() };
  const nodes = new Map([[root.id, root]]);
  const resources = assembly.ofType<ResourceProperties>("AWS::ApiGateway::Resource");
  // A resource may be declared before its parent, so each round places those whose parent has its place.
  while (nodes.size <= resources.length) {
    const before = nodes.size;
    for (const { logicalId, properties } of resources) {
      const id = assembly.physicalId(logicalId);
      const parent = nodes.get(properties.ParentId);
      if (parent === undefined || nodes.has(id)) continue;
      const path = `${parent.path === "/" ? "" : parent.path}/${properties.PathPart}`;
      const node: Node = { path, id, children: new Map(), methods: new Map() };
      nodes.set(id, node);
      parent.children.set(properties.PathPart, node);
    }
    if (nodes.size === before) throw new Error("A resource of the API has no parent");
  }
  return { root, nodes };
};

type Match = { node: Node; parameters: Record<string, string> };

/** The most specific resource: a literal part wins over `{name}`, and `{name}` over `{name+}`. */
const match = (node: Node, segments: string[]): Match | undefined => {
  const [first, ...rest] = segments;
  if (first === undefined) return node.methods.size > 0 ? { node, parameters: {} } : undefined;
  const literal = node.children.get(first);
  const found = literal === undefined ? undefined : match(literal, rest);
  if (found !== undefined) return found;
  for (const [part, child] of node.children) {
    const name = /^\{([^+]+)\}$/.exec(part)?.[1];
    const inside = name === undefined || first === "" ? undefined : match(child, rest);
    if (name !== undefined && inside !== undefined) {
      return { ...inside, parameters: { ...inside.parameters, [name]: first } };
    }
  }
  for (const [part, child] of node.children) {
    const name = /^\{(.+)\+\}$/.exec(part)?.[1];
    if (name !== undefined && child.methods.size > 0) {
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
