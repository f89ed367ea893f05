import type { Logger } from "@aws-lambda-powertools/logger";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import type * as z from "zod/mini";
import { withTimeOfPeople } from "../../aws/table/patience.ts";
import type { Endpoint, Upload } from "../../contract/endpoint.ts";
import { Refusal } from "../../contract/errors.ts";
import { valid } from "../../contract/valid.ts";
import { answering, type Handler, json } from "./answer.ts";
import { bodyOf } from "./body.ts";
import { type Repeatable, repeatable, unrepeatable } from "./idempotency.ts";
import * as limits from "./limits.ts";
import { fromContext, type Principal } from "./principal.ts";

type Input<E, Part extends "path" | "query" | "body"> =
  E extends Record<Part, infer S extends z.ZodMiniType> ? z.output<S> : undefined;

type IsAnyone<E> = E extends { access: "anyone" } ? true : false;
type IsUser<E> = E extends { access: "user" | "admin" } ? true : false;

/** What a handler is called with. Input has passed the contract's schemas. */
type Call<E extends Endpoint> = {
  /** The organization's id; undefined where anyone may call. */
  org: IsAnyone<E> extends true ? undefined : number;
  /** Who calls: a user or an API key; of the dashboard a user; undefined where anyone may call. */
  actor: IsAnyone<E> extends true
    ? undefined
    : IsUser<E> extends true
      ? Extract<Principal["actor"], { type: "user" }>
      : Principal["actor"];
  /** The user's session, in endpoints of the dashboard. */
  session: IsUser<E> extends true ? NonNullable<Principal["session"]> : undefined;
  /** The request as API Gateway hands it over. */
  event: APIGatewayProxyEvent;
  logger: Logger;
  /** The reply's `Set-Cookie` headers. A handler adds to them. */
  cookies: string[];
  /**
   * Counts the request against the endpoint's limit, and refuses `organizationLimit` beyond it; further calls
   * do nothing. For contracts whose `counted` is "by handler".
   */
  count: () => Promise<void>;
  /** Keeps the reply for repetitions of the request, or forgets it, where the contract has `repeatable`. */
  repeat: E extends { repeatable: true } ? Pick<Repeatable, "remember" | "forget"> : undefined;
  path: Input<E, "path">;
  query: Input<E, "query">;
  body: Input<E, "body">;
  /** Reads the file that the contract's `upload` declares; refuses as multipart.ts says. */
  file: E extends { upload: Upload } ? () => Promise<Buffer> : undefined;
};

/** What a handler returns for the other form of success, which the contract's `instead` declares. */
export class Instead<Body> {
  readonly body: Body;
  constructor(body: Body) {
    this.body = body;
  }
}

/** What a handler gives: the reply of its contract, or its other form. */
type Given<E extends Endpoint> =
  | z.input<E["reply"]>
  | (E extends { instead: { reply: infer R extends z.ZodMiniObject } } ? Instead<z.input<R>> : never);

/** What a handler may give instead: nothing, where `{success: true}` is a reply of the contract. */
type Nothing<E extends Endpoint> = { success: true } extends z.input<E["reply"]> ? Promise<void> : never;

/**
 * `readUpload` of multipart.ts. Only handlers with an upload pass it, so that only they bundle its parser.
 */
type ReadUpload = (event: APIGatewayProxyEvent, upload: Upload) => Promise<Buffer>;

/**
 * Makes the Lambda handler of an endpoint. It throws the authorizer's refusal, checks the input, counts the
 * request against the organization's limit, and calls `handle`. The contract's reply schema parses the
 * result.
 */
export const serve = <E extends Endpoint>(
  endpoint: E,
  handle: (call: Call<E>) => Promise<Given<E>> | Nothing<E>,
  ...reader: E extends { upload: Upload } ? [readUpload: ReadUpload] : []
): Handler => {
  const [readUpload] = reader as readonly ReadUpload[];
  const handler = answering(async (event, logger) => {
    const principal = fromContext(event.requestContext.authorizer, endpoint);
    const { organizationId: org, actor, session }: Partial<Principal> = principal ?? {};
    const input = inputOf(endpoint, event);
    const repeat = repeatOf(endpoint, principal, event, input);
    const earlier = await repeat.earlierReply();
    if (earlier !== undefined) return replayed(endpoint, earlier);
    const count = once(() => countAgainst(endpoint, org));
    if (endpoint.counted !== "by handler") await count();
    const { upload } = endpoint;
    const file = upload && readUpload && (() => readUpload(event, upload));
    const cookies: string[] = [];
    const call = {
      org,
      actor,
      session,
      repeat,
      count,
      file,
      event,
      logger,
      cookies,
      ...input,
    } as unknown as Call<E>;
    let given: Given<E> | { success: true };
    try {
      given = (await handle(call)) ?? { success: true };
    } catch (error) {
      // A request with the same `Idempotency-Key` may have been quicker.
      const quicker = error instanceof Refusal ? await repeat.earlierReply() : undefined;
      if (quicker === undefined) throw error;
      return replayed(endpoint, quicker);
    }
    const headers = {
      ...(endpoint.status === 303 && "location" in given && { Location: String(given.location) }),
    };
    const multiValueHeaders = { "Set-Cookie": cookies };
    return { ...replyOf(endpoint, given), headers, ...(cookies.length > 0 && { multiValueHeaders }) };
  });
  return (event, context) => withTimeOfPeople(endpoint.timeoutSeconds ?? 10, () => handler(event, context));
};

/** The reply in the form that the handler chose, with what its schema declares and nothing else. */
const replyOf = (endpoint: Endpoint, given: unknown): APIGatewayProxyResult => {
  if (!(given instanceof Instead)) return json(endpoint.status, endpoint.reply.parse(given));
  if (endpoint.instead === undefined) throw new Error("The contract declares no other form of success");
  return json(endpoint.instead.status, endpoint.instead.reply.parse(given.body));
};

const repeatOf = (
  { repeatable: isRepeatable }: Endpoint,
  principal: Principal | undefined,
  event: APIGatewayProxyEvent,
  input: unknown,
): Repeatable => {
  if (isRepeatable === undefined || principal === undefined) return unrepeatable;
  const { organizationId, actor } = principal;
  return repeatable(organizationId, actor, event, [event.httpMethod, event.path, input]);
};

const replayed = (endpoint: Endpoint, reply: unknown): APIGatewayProxyResult => ({
  ...json(endpoint.status, endpoint.reply.parse(reply)),
  headers: { "Idempotency-Replayed": "true" },
});

const countAgainst = async (endpoint: Endpoint, org: number | undefined): Promise<void> => {
  if (endpoint.limit === undefined || org === undefined) return;
  const { refusedSeconds } = await limits.countOrganization(org, endpoint.limit, new Date());
  if (refusedSeconds === 0) return;
  throw new Refusal("organizationLimit", { headers: { "Retry-After": String(refusedSeconds) } });
};

const once = (act: () => Promise<void>): (() => Promise<void>) => {
  let done: Promise<void> | undefined;
  return () => {
    done ??= act();
    return done;
  };
};

const inputOf = (
  { path, query, body, malformed }: Endpoint,
  event: APIGatewayProxyEvent,
): Record<string, unknown> => ({
  ...(path && { path: parsed(path, event.pathParameters ?? {}, malformed) }),
  ...(query && { query: parsed(query, queryOf(query, event), malformed) }),
  ...(body && { body: parsed(body, bodyOf(event), malformed) }),
});

/** The declared parameters; undeclared ones are ignored. Refuses a declared parameter that is repeated. */
const queryOf = (schema: z.ZodMiniObject, event: APIGatewayProxyEvent): Record<string, string> => {
  const query: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const [value, ...rest] = event.multiValueQueryStringParameters?.[name] ?? [];
    if (rest.length > 0) throw new Refusal("invalidInput", { error: `${name}: must be given once` });
    if (value !== undefined) query[name] = value;
  }
  return query;
};

/** Parses input. The refusal names the first invalid field and never quotes its value. */
const parsed = (schema: z.ZodMiniType, input: unknown, malformed: Endpoint["malformed"] = {}): unknown => {
  const { data, problem } = valid(schema, input);
  if (problem === undefined) return data;
  const { path, message } = problem;
  const [field = ""] = path;
  // Some messages begin with the name of their field.
  const isNamed = path.length === 0 || path.some((name) => message.startsWith(`${name} `));
  const error = isNamed ? message : `${path.join(".")}: ${message}`;
  const refusal = Object.hasOwn(malformed, field) ? malformed[field] : undefined;
  throw refusal === undefined
    ? new Refusal("invalidInput", { error })
    : new Refusal(refusal, { cause: error });
};
