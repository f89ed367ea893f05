/** What operations reply: headers, and refusals by status. */
import { isDeepStrictEqual } from "node:util";
import type { oas31 } from "zod-openapi";
import type { Endpoint, Route } from "../../shared/contract/endpoint.ts";
import { type RefusalName, refusals } from "../../shared/contract/errors.ts";
import type { Part } from "./parts.ts";
import type { Json } from "./schema.ts";

export const headers: Record<string, oas31.HeaderObject> = {
  "X-Request-Id": {
    description: "Names the request in the service's logs. Clients cannot choose it",
    required: true,
    schema: { type: "string" },
  },
  "RateLimit-Policy": {
    description:
      "The limits of a minute that the request counted against, by draft-ietf-httpapi-ratelimit-headers-11",
    required: false,
    schema: { type: "string" },
    example: '"address";q=100;w=60, "key";q=100;w=60',
  },
  RateLimit: {
    description:
      "What is left of each limit (`r`), and for how many seconds (`t`). Not in replies of API " +
      "Gateway itself, such as those over a limit of a minute",
    required: false,
    schema: { type: "string" },
    example: '"address";r=41;t=17, "key";r=41;t=17',
  },
  "Cache-Control": { required: true, schema: { type: "string", const: "no-store" } },
  "Retry-After": {
    description: "Whole seconds after which the request may succeed",
    required: true,
    schema: { type: "integer", minimum: 1 },
  },
  "WWW-Authenticate": { required: true, schema: { type: "string", const: "Bearer" } },
};

const lapsed: readonly RefusalName[] = [
  "trialExpired",
  "subscriptionInactive",
  "priceNotRecognized",
  "collectionPaused",
];

/** Refusals that many endpoints of a part have in common, by the name of the response in its document. */
export const sharedRefusals: Record<Part["name"], Record<string, readonly RefusalName[]>> = {
  v1: {
    Unauthenticated: ["unauthenticated"],
    Lapsed: lapsed,
    NotAllowed: ["foreignOrigin", "readOnlyKey"],
    TooManyRequests: ["addressLimit", "keyLimit", "userLimit"],
    Busy: ["busy", "newerVersion"],
    Unexpected: [],
  },
  dashboard: {
    Unauthenticated: ["unauthenticated"],
    Lapsed: lapsed,
    SessionRequired: ["sessionRequired"],
    NotAllowed: ["sessionRequired", "foreignOrigin"],
    TooManyRequests: ["addressLimit", "userLimit"],
    Busy: ["busy", "newerVersion"],
    Unexpected: [],
  },
};

/** Everything that an endpoint may refuse: what its contract lists, and what follows from its access. */
export const refusedBy = (
  method: Route["method"],
  { path, query, body, upload, refusals, limit, access, whenLapsed, repeatable }: Endpoint,
): RefusalName[] => [
  ...(path || query || body || upload || repeatable ? (["invalidInput"] as const) : []),
  ...(body || upload ? (["tooLarge"] as const) : []),
  ...refusals,
  ...(repeatable ? (["idempotencyKeyReused"] as const) : []),
  ...(access === "anyone" ? [] : (["unauthenticated"] as const)),
  ...(access === "anyone" || whenLapsed === "answers" ? [] : lapsed),
  ...(access === "user" || access === "admin" ? (["sessionRequired"] as const) : []),
  ...(access === "admin" ? (["adminOnly"] as const) : []),
  ...(method === "GET" ? [] : (["foreignOrigin"] as const)),
  ...(method === "GET" || access !== undefined ? [] : (["readOnlyKey"] as const)),
  "busy",
  "newerVersion",
  "addressLimit",
  ...(access === undefined ? (["keyLimit"] as const) : []),
  ...(access === "anyone" ? [] : (["userLimit"] as const)),
  ...(limit === undefined ? [] : (["organizationLimit"] as const)),
];

/** The replies for these refusals, by status. There is always one for 500. */
export const refusalReplies = (names: readonly RefusalName[], part: Part["name"]): Json => {
  const byStatus: Record<number, RefusalName[]> = { 500: [] };
  for (const name of names) {
    const { status } = refusals[name];
    byStatus[status] = [...(byStatus[status] ?? []), name];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, same]) => {
      const shared = Object.entries(sharedRefusals[part]).find(([, refusals]) =>
        isDeepStrictEqual(refusals, same),
      );
      return [status, shared ? { $ref: `#/components/responses/${shared[0]}` } : refusalReply(same)];
    }),
  );
};

export const refusalReply = (names: readonly RefusalName[]): Json => {
  const status = names[0] === undefined ? 500 : refusals[names[0]].status;
  const examples: Json = Object.fromEntries(
    names.map((name) => {
      const { status: _, ...value } = refusals[name];
      return [name, { value }];
    }),
  );
  if (status === 500) examples.unexpected = { value: { error: "Internal error" } };
  const sentences = [
    ...names.map((name) => refusals[name].error),
    ...(status === 500 ? ["Internal error"] : []),
  ];
  const schema = errorSchema(names);
  return {
    description: sentences.join("; or: "),
    // API Gateway answers this one, and gives no function's 401 the header.
    headers: headersOf(status, names.includes("unauthenticated")),
    content: {
      ...(names.includes("tooLarge") ? { "text/plain": overTenMebibytes } : {}),
      "application/json": {
        schema: isDeepStrictEqual(schema, errorSchema([])) ? { $ref: "#/components/schemas/Error" } : schema,
        examples,
      },
    },
  };
};

/** How API Gateway refuses a body that it does not read to the end. */
const overTenMebibytes: Json = {
  schema: { type: "string" },
  example: "HTTP content length exceeded 10485760 bytes.",
};

/** Fields that only one refusal has, besides its code. */
const ownFields: Partial<Record<RefusalName, Json>> = {
  chooseOrganization: {
    organizations: {
      type: "array",
      description: "The organizations to choose from",
      items: {
        type: "object",
        required: ["id", "name"],
        properties: { id: { type: "integer" }, name: { type: "string" } },
      },
    },
    token: {
      type: "string",
      description:
        "The token of a link to sign in with. Only after an answer of the identity provider, which is used up then",
    },
  },
};

/** The schema of a body with one of these refusals, with the codes and reasons that they have. */
export const errorSchema = (names: readonly RefusalName[]): Json => {
  const forms: { status: number; code?: string; reason?: string }[] = names.map((name) => refusals[name]);
  const extras = (["code", "reason"] as const)
    .map((field) => ({ field, values: forms.flatMap((form) => form[field] ?? []) }))
    .filter(({ values }) => values.length > 0);
  return {
    type: "object",
    required: [
      "error",
      ...extras.filter(({ values }) => values.length === forms.length).map(({ field }) => field),
    ],
    properties: {
      error: { type: "string", description: "What is wrong, in a sentence for people" },
      ...Object.fromEntries(extras.map(({ field, values }) => [field, { type: "string", enum: values }])),
      ...Object.assign({}, ...names.map((name) => ownFields[name])),
    },
  };
};

export const headersOf = (status: number, isOfGateway = false): Json => {
  const names = [
    "X-Request-Id",
    "Cache-Control",
    ...(status === 401 ? [] : ["RateLimit-Policy", "RateLimit"]),
    ...(isOfGateway ? ["WWW-Authenticate"] : []),
    ...(status === 429 || status === 503 ? ["Retry-After"] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
};
