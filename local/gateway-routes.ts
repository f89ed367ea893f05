import type { Assembly } from "./assembly.ts";

/** A method of a REST API: what answers it, and behind which authorizer. */
export interface Method {
  readonly functionArn: string;
  readonly authorizerArn: string | undefined;
}

/** A resource that a request's path leads to, such as `/v1/emails/{id}`, with the values of its parameters. */
export interface Match {
  readonly resourcePath: string;
  readonly resourceId: string;
  readonly pathParameters: Record<string, string> | null;
  readonly method: Method;
}

interface Node {
  readonly path: string;
  readonly id: string;
  readonly children: Map<string, Node>;
  readonly methods: Map<string, Method>;
}

/**
 * Finds what a request goes to; undefined: nothing. `path` is without the stage. As in API Gateway a literal part wins over
 * `{parameter}`, that over `{greedy+}`, and a declared method over ANY; there is no way back from a more specific resource.
 */
export type Router = (httpMethod: string, path: string) => Match | undefined;

export function readRoutes(assembly: Assembly): Router {
  const root: Node = { path: "", id: "root", children: new Map(), methods: new Map() };
  const nodes = readResources(assembly, root);
  const authorizers = new Map(
    assembly
      .ofType<{ AuthorizerUri: string }>("AWS::ApiGateway::Authorizer")
      .map(({ logicalId, properties }) => [
        assembly.physicalId(logicalId),
        functionArnOf(properties.AuthorizerUri),
      ]),
  );
  for (const { properties } of assembly.ofType<{
    ResourceId: string;
    HttpMethod: string;
    AuthorizationType: string;
    AuthorizerId?: string;
    Integration: { Type: string; Uri: string };
  }>("AWS::ApiGateway::Method")) {
    const { ResourceId, HttpMethod, AuthorizationType, AuthorizerId, Integration } = properties;
    if (Integration.Type !== "AWS_PROXY") {
      throw new Error(`Only Lambda proxy integrations are emulated, not ${Integration.Type}`);
    }
    const authorizerArn = AuthorizerId === undefined ? undefined : authorizers.get(AuthorizerId);
    if (AuthorizationType !== "NONE" && authorizerArn === undefined) {
      throw new Error(`Only Lambda authorizers are emulated, not ${AuthorizationType}`);
    }
    (nodes.get(ResourceId) ?? root).methods.set(HttpMethod, {
      functionArn: functionArnOf(Integration.Uri),
      authorizerArn,
    });
  }
  return (httpMethod, path) => match(root, httpMethod, path);
}

/** `arn:…:lambda:path/2015-03-31/functions/<function's ARN>/invocations` */
function functionArnOf(uri: string): string {
  const [, arn] = /\/functions\/(.+)\/invocations$/.exec(uri) ?? [];
  if (arn === undefined) throw new Error(`Not the URI of a Lambda integration: ${uri}`);
  return arn;
}

function readResources(assembly: Assembly, root: Node): Map<string, Node> {
  const declared = new Map(
    assembly
      .ofType<{ ParentId: string; PathPart: string }>("AWS::ApiGateway::Resource")
      .map(({ logicalId, properties }) => [assembly.physicalId(logicalId), properties]),
  );
  const nodes = new Map<string, Node>();
  const nodeOf = (id: string): Node => {
    const properties = declared.get(id);
    // What is no declared resource is the API's root.
    if (properties === undefined) return root;
    const known = nodes.get(id);
    if (known !== undefined) return known;
    const parent = nodeOf(properties.ParentId);
    const node: Node = {
      path: `${parent.path}/${properties.PathPart}`,
      id,
      children: new Map(),
      methods: new Map(),
    };
    parent.children.set(properties.PathPart, node);
    nodes.set(id, node);
    return node;
  };
  for (const id of declared.keys()) nodeOf(id);
  return nodes;
}

function match(root: Node, httpMethod: string, path: string): Match | undefined {
  const parts = path.split("/").filter((part) => part !== "");
  const parameters: Record<string, string> = {};
  let node = root;
  for (const [index, part] of parts.entries()) {
    const literal = node.children.get(part);
    if (literal !== undefined && !/^\{.*\}$/.test(part)) {
      node = literal;
      continue;
    }
    const single = [...node.children].find(([name]) => /^\{[^+]+\}$/.test(name));
    const greedy = [...node.children].find(([name]) => /^\{.+\+\}$/.test(name));
    if (single !== undefined && (parts.length === index + 1 || greedy === undefined)) {
      parameters[single[0].slice(1, -1)] = decode(part);
      node = single[1];
      continue;
    }
    if (greedy === undefined) return matchAbove(root, httpMethod, parts, path);
    parameters[greedy[0].slice(1, -2)] = decode(parts.slice(index).join("/"));
    node = greedy[1];
    break;
  }
  return found(node, httpMethod, parameters) ?? matchAbove(root, httpMethod, parts, path);
}

/** A path that a specific resource does not answer falls to the nearest greedy one above it. */
function matchAbove(root: Node, httpMethod: string, parts: string[], path: string): Match | undefined {
  let node: Node | undefined = root;
  let best: Match | undefined;
  for (let index = 0; index < parts.length && node !== undefined; index++) {
    const greedy = [...node.children].find(([name]) => /^\{.+\+\}$/.test(name));
    if (greedy !== undefined) {
      const parameters = {
        [greedy[0].slice(1, -2)]: decode(path.split("/").filter(Boolean).slice(index).join("/")),
      };
      best = found(greedy[1], httpMethod, parameters) ?? best;
    }
    node = node.children.get(parts[index] ?? "");
  }
  return best;
}

function found(node: Node, httpMethod: string, parameters: Record<string, string>): Match | undefined {
  const method = node.methods.get(httpMethod) ?? node.methods.get("ANY");
  if (method === undefined) return undefined;
  return {
    resourcePath: node.path === "" ? "/" : node.path,
    resourceId: node.id,
    pathParameters: Object.keys(parameters).length === 0 ? null : parameters,
    method,
  };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
