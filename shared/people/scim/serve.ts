/** Answers every request of SCIM 2.0 (RFC 7644), in its forms. */
import { Logger } from "@aws-lambda-powertools/logger";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { bodyOf } from "../../access/api/body.ts";
import { scimUrlOf } from "../../access/api/credential.ts";
import { requestIds } from "../../access/api/principal.ts";
import { Refusal, refusals } from "../../contract/errors.ts";
import { NewerVersion } from "../../contract/version.ts";
import { authenticate } from "./authenticate.ts";
import { resourceTypes, schemaList, serviceProviderConfig } from "./discovery.ts";
import { readFilter } from "./filter.ts";
import * as groups from "./groups.ts";
import { schemas } from "./names.ts";
import { invalid, Problem } from "./problem.ts";
import { projected, wants } from "./project.ts";
import { type Answer, type Caller, mostResults, type Query } from "./request.ts";
import * as users from "./users.ts";

type Body = Record<string, unknown>;

const logger = new Logger();

export const answer = async (event: APIGatewayProxyEvent): Promise<APIGatewayProxyResult> => {
  let caller: Caller | undefined;
  try {
    caller = { ...(await authenticate(event, new Date())), url: scimUrlOf(event) };
    return finish(event, caller, replyOf(event, await route(caller, event)));
  } catch (error) {
    const problem = problemOf(event, error);
    return finish(event, caller, errorOf(problem), problem);
  }
};

const finish = (
  event: APIGatewayProxyEvent,
  caller: Caller | undefined,
  reply: APIGatewayProxyResult,
  problem?: Problem,
): APIGatewayProxyResult => {
  logger.info("request", {
    ...requestIds(event),
    method: event.httpMethod,
    // Paths hold ids alone; queries hold names.
    route: event.resource,
    status: reply.statusCode,
    milliseconds: Date.now() - event.requestContext.requestTimeEpoch,
    ...(caller && { organizationId: caller.org, directoryId: caller.directory.id }),
    ...(problem && { refusal: problem.scimType ?? String(problem.status) }),
  });
  const { extendedRequestId = "" } = event.requestContext;
  return { ...reply, headers: { ...reply.headers, "X-Request-Id": extendedRequestId } };
};

const json = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): APIGatewayProxyResult => ({
  statusCode: status,
  headers: {
    "Content-Type": "application/scim+json",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    ...headers,
  },
  body: body === undefined ? "" : JSON.stringify(body),
});

const errorOf = ({ status, scimType, message, headers }: Problem): APIGatewayProxyResult =>
  json(
    status,
    { schemas: [schemas.error], status: String(status), ...(scimType && { scimType }), detail: message },
    headers,
  );

const problemOf = (event: APIGatewayProxyEvent, error: unknown): Problem => {
  if (error instanceof Problem) return error;
  if (error instanceof Refusal) {
    const { status } = refusals[error.refusal];
    return new Problem(status, error.message, {
      // What is refused with 400 is a body that is no JSON object.
      ...(status === 400 && { scimType: "invalidSyntax" as const }),
      ...(status === 409 && { scimType: "uniqueness" as const }),
      headers: error.headers,
    });
  }
  logger.error(error instanceof NewerVersion ? "newer version" : "unexpected", {
    ...requestIds(event),
    error: error as Error,
  });
  return error instanceof NewerVersion
    ? new Problem(503, "The service is being updated: try again", { headers: { "Retry-After": "60" } })
    : new Problem(500, "Internal error");
};

/** A reply of Lambda has 6 MB at most, with each quote of the body escaped. */
const mostBytes = 4 * 1024 * 1024;

const replyOf = (event: APIGatewayProxyEvent, { status, body, location }: Answer): APIGatewayProxyResult => {
  const reply = json(
    status,
    body === undefined ? undefined : shown(event, body),
    location ? { Location: location } : {},
  );
  if (Buffer.byteLength(reply.body) > mostBytes)
    throw invalid("tooMany", "The reply would be too large: ask with excludedAttributes=members");
  return reply;
};

const projectionOf = (event: APIGatewayProxyEvent) => {
  const { attributes, excludedAttributes } = event.queryStringParameters ?? {};
  return {
    ...(attributes !== undefined && { attributes }),
    ...(excludedAttributes !== undefined && { excludedAttributes }),
  };
};

/** Resources, also those of a list, with the attributes that the client wants. */
const shown = (event: APIGatewayProxyEvent, body: unknown): unknown => {
  const projection = projectionOf(event);
  const { Resources, ...rest } = body as { Resources?: Body[] };
  if (Resources !== undefined)
    return { ...rest, Resources: Resources.map((each) => projected(each, projection)) };
  return projected(body as Body, projection);
};

/** Of a query parameter; anything but digits counts as absent, since RFC 7644, 3.4.2.4, refuses no number. */
const numberIn = (text: string | undefined): number | undefined =>
  text !== undefined && /^[+-]?\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;

const queryOf = (event: APIGatewayProxyEvent, kind: "User" | "Group"): Query => {
  const { filter, startIndex, count } = event.queryStringParameters ?? {};
  return {
    filter: filter === undefined || filter.trim() === "" ? [] : readFilter(kind, filter),
    startIndex: Math.max(1, numberIn(startIndex) ?? 1),
    count: Math.min(mostResults, Math.max(0, numberIn(count) ?? mostResults)),
  };
};

/** A list ends before its reply would be too large; clients ask for the rest (RFC 7644, 3.4.2.4). */
const listOf = async (
  resources: AsyncIterable<Body> | readonly Body[],
  total: number,
  startIndex = 1,
): Promise<Answer> => {
  const fitting: Body[] = [];
  let bytes = 0;
  for await (const resource of resources) {
    bytes += Buffer.byteLength(JSON.stringify(resource)) + 1;
    if (bytes > mostBytes - 1_000 && fitting.length > 0) break;
    fitting.push(resource);
  }
  return {
    status: 200,
    body: {
      schemas: [schemas.list],
      totalResults: total,
      startIndex,
      itemsPerPage: fitting.length,
      Resources: fitting,
    },
  };
};

const nothingHere = (): Problem => new Problem(404, "There is nothing at this path");

/** Of what RFC 7644 leaves to servers, this tells clients that it is not a mistake of theirs. */
const notOffered = (): Problem => new Problem(501, "The service does not offer this part of SCIM");

const notAllowed = (methods: readonly string[]): Problem =>
  new Problem(405, "The method is not supported here", { headers: { Allow: methods.join(", ") } });

/** Read-only descriptions of the service: all of them, or one by its id. */
const described = async (
  method: string,
  all: Body | readonly Body[],
  id: string | undefined,
): Promise<Answer> => {
  if (method !== "GET") throw notAllowed(["GET"]);
  if (!Array.isArray(all)) {
    if (id !== undefined) throw nothingHere();
    return { status: 200, body: all };
  }
  if (id === undefined) return listOf(all, all.length);
  const one = all.find((each) => each.id === id);
  if (one === undefined) throw nothingHere();
  return { status: 200, body: one };
};

const route = async (caller: Caller, event: APIGatewayProxyEvent): Promise<Answer> => {
  const { httpMethod: method } = event;
  const [kind, id, ...rest] = segmentsOf(event);
  if (rest.length > 0) throw nothingHere();
  if (id === ".search") throw notOffered();
  switch (kind) {
    case "ServiceProviderConfig":
      return described(method, serviceProviderConfig(caller.url), id);
    case "ResourceTypes":
      return described(method, resourceTypes(caller.url), id);
    case "Schemas":
      return described(method, schemaList(caller.url), id);
    case "Users":
      return ofUsers(caller, event, id);
    case "Groups":
      return ofGroups(caller, event, id);
    case "Bulk":
    case "Me":
    case ".search":
      throw notOffered();
    default:
      throw nothingHere();
  }
};

const segmentsOf = ({ pathParameters }: APIGatewayProxyEvent): string[] => {
  try {
    return (pathParameters?.proxy ?? "").split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    throw nothingHere();
  }
};

const ofUsers = async (caller: Caller, event: APIGatewayProxyEvent, id?: string): Promise<Answer> => {
  const { httpMethod: method } = event;
  if (id === undefined) {
    if (method === "POST") return users.create(caller, bodyOf(event));
    if (method !== "GET") throw notAllowed(["GET", "POST"]);
    const query = queryOf(event, "User");
    const { total, resources } = await users.find(caller, query);
    return listOf(resources, total, query.startIndex);
  }
  switch (method) {
    case "GET":
      return users.get(caller, id);
    case "PUT":
      return users.replace(caller, id, bodyOf(event));
    case "PATCH":
      return users.patch(caller, id, bodyOf(event));
    case "DELETE":
      return users.remove(caller, id);
    default:
      throw notAllowed(["GET", "PUT", "PATCH", "DELETE"]);
  }
};

const ofGroups = async (caller: Caller, event: APIGatewayProxyEvent, id?: string): Promise<Answer> => {
  const { httpMethod: method } = event;
  const wanted = { members: wants("members", projectionOf(event)) };
  if (id === undefined) {
    if (method === "POST") return groups.create(caller, bodyOf(event), wanted);
    if (method !== "GET") throw notAllowed(["GET", "POST"]);
    const query = queryOf(event, "Group");
    const { total, resources } = await groups.find(caller, query, wanted);
    return listOf(resources, total, query.startIndex);
  }
  switch (method) {
    case "GET":
      return groups.get(caller, id, wanted);
    case "PUT":
      return groups.replace(caller, id, bodyOf(event), wanted);
    case "PATCH":
      return groups.patch(caller, id, bodyOf(event));
    case "DELETE":
      return groups.remove(caller, id);
    default:
      throw notAllowed(["GET", "PUT", "PATCH", "DELETE"]);
  }
};
