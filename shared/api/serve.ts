import middy from "@middy/core";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import type * as z from "zod/mini";
import { answer, type Handler, identify, json, type Served } from "./answer.ts";
import type { Endpoint, Upload } from "./endpoint.ts";
import { Refusal } from "./errors.ts";
import * as limits from "./limits.ts";
import type { Principal } from "./principal.ts";
import { valid } from "./valid.ts";

const maximumBodyBytes = 1024 * 1024;

type Input<E, Part extends "path" | "query" | "body"> =
  E extends Record<Part, infer S extends z.ZodMiniType> ? z.output<S> : undefined;

/** What a handler is called with: input as the contract declares it, valid and counted. */
export type Call<E extends Endpoint> = {
  /** The organization's id. */
  org: number;
  actor: Principal["actor"];
  /** Counts the request against the endpoint's limit, once; for contracts whose `counted` is "by handler". */
  count: () => Promise<void>;
  path: Input<E, "path">;
  query: Input<E, "query">;
  body: Input<E, "body">;
  /** Reads the file that the contract's `upload` declares. */
  file: E extends { upload: Upload } ? () => Promise<Buffer> : undefined;
};

/** Reads the file of a multipart/form-data body; serve gets it from those handlers that need it (multipart.ts). */
type ReadUpload = (event: APIGatewayProxyEvent, upload: Upload) => Promise<Buffer>;

/**
 * Makes the Lambda handler of an endpoint: the one chain that every request goes through, in the order of decisions.md
 * "Order of checks" (the authorizer has done those before): its refusal, then input, then the organization's limit; then
 * `handle`, whose result goes through the contract's reply schema. A contract with an `upload` needs `readUpload`.
 */
export const serve = <E extends Endpoint>(
  endpoint: E,
  handle: (call: Call<E>) => Promise<z.input<E["reply"]>>,
  ...reader: E extends { upload: Upload } ? [readUpload: ReadUpload] : []
): Handler => {
  const [readUpload] = reader as readonly ReadUpload[];
  const chain = middy<Served, APIGatewayProxyResult>()
    .use(answer())
    .use(identify)
    .use(read(endpoint))
    .handler(async (event) => {
      const { organizationId, actor } = principalOf(event);
      const count = once(() => countAgainst(endpoint, organizationId));
      if (endpoint.counted !== "by handler") await count();
      const { upload } = endpoint;
      const file = upload && readUpload && (() => readUpload(event, upload));
      const call = { org: organizationId, actor, count, file, ...event.input } as Call<E>;
      return json(endpoint.status, endpoint.reply.parse(await handle(call)));
    });
  return (event, context) => chain(event, context);
};

/** The input that the contract declares, or what is wrong with it. */
const read = (endpoint: Endpoint): middy.MiddlewareObj<Served, APIGatewayProxyResult> => ({
  before: ({ event }) => {
    event.input = inputOf(endpoint, event);
  },
});

const principalOf = (event: Served): Principal => {
  if (event.principal === undefined) throw new Error("No principal");
  return event.principal;
};

const countAgainst = async (endpoint: Endpoint, org: number): Promise<void> => {
  if (endpoint.limit === undefined) return;
  const seconds = await limits.countOrganization(org, endpoint.limit, new Date());
  if (seconds > 0) throw new Refusal("organizationLimit", { headers: { "Retry-After": String(seconds) } });
};

const once = (act: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | undefined;
  return () => {
    done ??= act();
    return done;
  };
};

const inputOf = (endpoint: Endpoint, event: APIGatewayProxyEvent): Record<string, unknown> => ({
  ...(endpoint.path && { path: parsed(endpoint.path, event.pathParameters ?? {}) }),
  ...(endpoint.query && { query: parsed(endpoint.query, queryOf(endpoint.query, event)) }),
  ...(endpoint.body && { body: parsed(endpoint.body, bodyOf(event)) }),
});

/** Declared parameters only: others are ignored, but one that is meant may not be given twice. */
const queryOf = (schema: z.ZodMiniObject, event: APIGatewayProxyEvent): Record<string, string> => {
  const query: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const [value, ...others] = event.multiValueQueryStringParameters?.[name] ?? [];
    if (others.length > 0) throw new Refusal("invalidInput", { error: `${name}: must be given once` });
    if (value !== undefined) query[name] = value;
  }
  return query;
};

const bodyOf = (event: APIGatewayProxyEvent): unknown => {
  const bytes = Buffer.from(event.body ?? "", event.isBase64Encoded ? "base64" : "utf8");
  if (bytes.length > maximumBodyBytes) throw new Refusal("tooLarge");
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new Refusal("invalidInput", { error: "The request body is not JSON" });
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new Refusal("invalidInput", { error: "The request body must be a JSON object" });
  }
  return body;
};

/** Parses input; the error names the first field that is wrong, never its value. */
const parsed = (schema: z.ZodMiniType, input: unknown): unknown => {
  const { data, problem } = valid(schema, input);
  if (problem === undefined) return data;
  const field = problem.path.join(".");
  throw new Refusal("invalidInput", {
    error:
      field === "" || problem.message.startsWith(field) ? problem.message : `${field}: ${problem.message}`,
  });
};
