import { isDeepStrictEqual } from "node:util";
import * as z from "zod/mini";
import { eventData } from "../alerts/envelope.ts";
import { signatureHeader } from "../alerts/signature.ts";
import type { Endpoint, Route, Upload } from "./endpoint.ts";
import { type RefusalName, refusals } from "./errors.ts";
import { countedRequests, organizationLimits, perMinute } from "./limits.ts";
import { idField } from "./page.ts";
import { timestamp } from "./text.ts";

type Json = { [name: string]: unknown };

/** Schemas that have an id in their metadata, by that id. */
type Schemas = Record<string, Json>;

/**
 * The OpenAPI 3.1 document of the interface, derived from the contracts of these routes. Throws when a contract says what
 * the document cannot.
 */
export const openApiDocument = (routes: readonly Route[]): Json => {
  const schemas: Schemas = { Error: errorSchema([]) };
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(route, routes, schemas),
    };
  }
  const webhooks = Object.fromEntries(
    Object.entries(eventData).map(([type, data]) => [type, webhook(type, data, schemas)]),
  );
  return {
    openapi: "3.1.1",
    info: { title: "Breach Monitor", version: "1.0.0", description },
    servers: [
      {
        url: "{base_url}/api/v1",
        variables: {
          base_url: {
            default: "http://127.0.0.1:3000",
            description: "A local run; of a deployed stack its output `ApiUrl` without `/api/v1`",
          },
        },
      },
    ],
    security: [{ apiKey: [] }, { session: [] }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths,
    webhooks,
    components: {
      securitySchemes,
      headers,
      responses: Object.fromEntries(
        Object.entries(sharedRefusals).map(([name, names]) => [name, refusalReply(names)]),
      ),
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
};

const description = `Watches the e-mail addresses of an organization and tells in which data breaches they appear.

- Ids are positive integers below 2^53, unique across organizations and never reused. Times are ISO 8601 in UTC with milliseconds.
- Unknown fields of bodies and unknown query parameters are ignored. Wrong types are not coerced. A query parameter may be given once.
- Lists are ordered newest first. Filters combine with AND; unknown ids in filters give an empty list.
- Every error is JSON with a sentence for people in \`error\`; some have a \`code\` or \`reason\` for programs.
- An unknown path is 404; another method of a known path is 405 with \`Allow\`. A request of more than 10 MB is 413.
- ${perMinute.address} requests a minute pass from one address, and ${perMinute.key} with one API key. Windows are fixed, aligned to the UTC minute or hour.
- What is checked first is answered first: address limit (429), authentication (401), origin (403), key limit (429), subscription (402), path and method (404, 405), input (400, 413), the organization's hourly limit (429), existence and state (404, 409, 400).`;

const tags = {
  scans: "Looking for the monitored e-mails in known data breaches",
  activity: "What was done in the account",
  emails: "The addresses that are monitored, one by one or imported from a file",
  breaches: "Findings: appearances of monitored e-mails in data breaches",
  "alert-configs": "Channels that tell of new breaches and of scans: e-mail, Slack, webhook",
  webhooks: "What the service sends to webhook channels",
} satisfies Record<string, string>;

const securitySchemes: Json = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    description:
      "An API key (`bms_…`), shown once when it is created. An `Authorization` header alone decides, unless it is of another scheme such as `Basic`; there are no scopes.",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-session",
    description:
      "A user's session (named `session` over the plain HTTP of local runs). Requests other than GET must carry an `Origin` (or `Sec-Fetch-Site: same-origin`) of the service's own.",
  },
};

const headers: Json = {
  "X-Request-Id": {
    description: "Names the request in the service's logs",
    required: true,
    schema: { type: "string" },
  },
  "Cache-Control": { required: true, schema: { type: "string", const: "no-store" } },
  "Retry-After": {
    description: "Whole seconds until the window ends",
    required: true,
    schema: { type: "integer", minimum: 1 },
  },
  "WWW-Authenticate": { required: true, schema: { type: "string", const: "Bearer" } },
};

/** What several endpoints refuse in the same words: a response of its own each. */
const sharedRefusals: Record<string, readonly RefusalName[]> = {
  Unauthenticated: ["unauthenticated"],
  Lapsed: ["trialExpired", "subscriptionInactive", "priceNotRecognized", "collectionPaused"],
  ForeignOrigin: ["foreignOrigin"],
  TooManyRequests: ["addressLimit", "keyLimit"],
  Unexpected: [],
};

const operation = (route: Route, routes: readonly Route[], schemas: Schemas): Json => {
  const { method, name, endpoint } = route;
  const paragraphs = [endpoint.description, limitOf(route, routes)].filter((text) => text !== undefined);
  const parameters = [
    ...parametersOf("path", endpoint.path, schemas),
    ...parametersOf("query", endpoint.query, schemas),
  ];
  return {
    operationId: camelCase(name),
    summary: endpoint.summary,
    ...(paragraphs.length > 0 && { description: paragraphs.join("\n\n") }),
    tags: [tagOf(route)],
    ...(parameters.length > 0 && { parameters }),
    ...bodyOf(endpoint, schemas),
    responses: {
      [endpoint.status]: {
        description: endpoint.status === 201 ? "Created" : "Done",
        headers: headersOf(endpoint.status),
        content: jsonContent(jsonSchema(endpoint.reply, "output", schemas)),
        ...linksOf(route, routes),
      },
      ...refusalReplies(refusedBy(method, endpoint)),
    },
  };
};

const camelCase = (name: string): string =>
  name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

const tagOf = ({ path }: Route): string => {
  const [, tag = ""] = path.split("/");
  if (!(tag in tags)) throw new Error(`shared/api/openapi.ts has no tag for ${path}`);
  return tag;
};

/** What can be done next with the thing that was created: the operations on an id at or below its path. */
const linksOf = ({ path, endpoint }: Route, routes: readonly Route[]): Json => {
  if (endpoint.status !== 201 || !("id" in endpoint.reply.shape)) return {};
  const next = routes.filter(
    (other) =>
      (other.path === path && other.endpoint.query && "id" in other.endpoint.query.shape) ||
      other.path === `${path}/{id}`,
  );
  const links = next.map(({ name }) => [
    camelCase(name),
    { operationId: camelCase(name), parameters: { id: "$response.body#/id" } },
  ]);
  return { links: Object.fromEntries(links) };
};

const limitOf = (route: Route, routes: readonly Route[]): string | undefined => {
  const { limit } = route.endpoint;
  if (limit === undefined) return undefined;
  const others = routes
    .filter((other) => other !== route && other.endpoint.limit === limit)
    .map(({ method, path }) => `${method} ${path}`);
  const shared = others.length === 0 ? "" : `, shared with ${others.join(" and ")}`;
  const counted = countedRequests[limit];
  const only = counted === undefined ? "" : ` Only ${counted} count.`;
  return `At most ${organizationLimits[limit]} an hour for each organization${shared}.${only}`;
};

/** Of the types that the values have, as OpenAPI writes them into paths and queries: `7`, `true`. */
const parametersOf = (
  where: "path" | "query",
  schema: z.ZodMiniObject | undefined,
  schemas: Schemas,
): Json[] =>
  Object.entries(schema?.shape ?? {}).map(([name, value]) => {
    const { description, ...json } = jsonSchema(value, "output", schemas);
    return {
      name,
      in: where,
      required: !z.safeParse(value, undefined).success,
      ...(description !== undefined && { description }),
      schema: json,
    };
  });

const bodyOf = ({ body, upload }: Endpoint, schemas: Schemas): Json => {
  if (upload) return { requestBody: { required: true, content: { "multipart/form-data": form(upload) } } };
  if (body)
    return { requestBody: { required: true, content: jsonContent(jsonSchema(body, "input", schemas)) } };
  return {};
};

const form = ({ field, extensions, maximumBytes }: Upload): Json => ({
  schema: {
    type: "object",
    required: [field],
    properties: {
      [field]: {
        type: "string",
        format: "binary",
        contentMediaType: "application/octet-stream",
        description: `Its name ends in ${extensions.join(" or ")}; at most ${maximumBytes} bytes`,
      },
    },
  },
  encoding: {
    [field]: {
      headers: {
        "Content-Disposition": {
          required: true,
          schema: { type: "string" },
          example: `form-data; name="${field}"; filename="example${extensions[0]}"`,
        },
      },
    },
  },
});

/** What an endpoint may refuse, with what every endpoint may. */
const refusedBy = (
  method: Route["method"],
  { path, query, body, upload, refusals, limit }: Endpoint,
): RefusalName[] => [
  ...(path || query || body || upload ? (["invalidInput"] as const) : []),
  ...(body || upload ? (["tooLarge"] as const) : []),
  ...refusals,
  "unauthenticated",
  "trialExpired",
  "subscriptionInactive",
  "priceNotRecognized",
  "collectionPaused",
  ...(method === "GET" ? [] : (["foreignOrigin"] as const)),
  "addressLimit",
  "keyLimit",
  ...(limit === undefined ? [] : (["organizationLimit"] as const)),
];

/** By status; 500 is always among them. */
const refusalReplies = (names: readonly RefusalName[]): Json => {
  const byStatus: Record<number, RefusalName[]> = { 500: [] };
  for (const name of names) {
    const { status } = refusals[name];
    byStatus[status] = [...(byStatus[status] ?? []), name];
  }
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, same]) => {
      const shared = Object.entries(sharedRefusals).find(([, others]) => isDeepStrictEqual(others, same));
      return [status, shared ? { $ref: `#/components/responses/${shared[0]}` } : refusalReply(same)];
    }),
  );
};

const refusalReply = (names: readonly RefusalName[]): Json => {
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
    headers: headersOf(status),
    content: {
      "application/json": {
        schema: isDeepStrictEqual(schema, errorSchema([])) ? { $ref: "#/components/schemas/Error" } : schema,
        examples,
      },
    },
  };
};

/** The body of these refusals; the codes and reasons that they have. */
const errorSchema = (names: readonly RefusalName[]): Json => {
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
    },
  };
};

const headersOf = (status: number): Json => {
  const names = [
    "X-Request-Id",
    "Cache-Control",
    ...(status === 401 ? ["WWW-Authenticate"] : []),
    ...(status === 429 ? ["Retry-After"] : []),
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
};

const webhook = (type: string, data: z.ZodMiniObject, schemas: Schemas): Json => {
  const envelope = z.object({
    id: idField.check(
      z.meta({ description: "The same in every attempt of one delivery: ignore one that was seen" }),
    ),
    type: z.literal(type),
    timestamp: timestamp.check(z.meta({ description: "Of this attempt: reject or log old ones" })),
    data,
  });
  return {
    post: {
      operationId: camelCase(`receive-${type.replaceAll("_", "-")}`),
      summary: `An event of type ${type}`,
      description:
        "An attempt fails without a 2xx within 10 seconds; redirects are not followed. It is repeated after about 1 and 2 seconds, and all three about every hour, 30 attempts in all.",
      tags: ["webhooks"],
      security: [],
      parameters: [
        {
          name: signatureHeader,
          in: "header",
          required: false,
          description:
            "Only when the channel has a secret: HMAC-SHA256 of the raw body, keyed with the secret. Compare it in constant time.",
          schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
        },
      ],
      requestBody: { required: true, content: jsonContent(jsonSchema(envelope, "output", schemas)) },
      responses: {
        "2XX": { description: "Delivered" },
        default: { description: "A failed attempt" },
      },
    },
  };
};

const jsonContent = (schema: Json): Json => ({ "application/json": { schema } });

/**
 * The JSON Schema of a contract's schema. Those with an id go to `schemas` and are referred to. Throws when two different
 * schemas have one id.
 */
const jsonSchema = (schema: z.core.$ZodType, io: "input" | "output", schemas: Schemas): Json => {
  const text = JSON.stringify(
    // Wrapped, since the outermost schema is never referred to.
    z.toJSONSchema(z.object({ schema }), { io, target: "draft-2020-12", override: adapt }),
  ).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { properties, $defs = {} } = JSON.parse(text) as { properties: { schema: Json }; $defs?: Schemas };
  for (const [id, { id: _, ...definition }] of Object.entries($defs)) {
    schemas[id] ??= definition;
    if (!isDeepStrictEqual(schemas[id], definition)) throw new Error(`Two schemas have the id ${id}`);
  }
  return properties.schema;
};

const adapt = ({
  zodSchema,
  jsonSchema,
}: {
  zodSchema: z.core.$ZodTypes;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}) => {
  // A reply may get more fields one day; clients must not reject those.
  delete jsonSchema.additionalProperties;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) jsonSchema.format = "int64";
  if (zodSchema instanceof z.ZodMiniDiscriminatedUnion) {
    jsonSchema.discriminator = discriminatorOf(zodSchema);
  }
};

/** Which schema is meant by which value of the field that tells. */
const discriminatorOf = ({ _zod: { def } }: z.ZodMiniDiscriminatedUnion): Json => ({
  propertyName: def.discriminator,
  mapping: Object.fromEntries(
    def.options.map((option) => {
      const id = z.globalRegistry.get(option)?.id;
      const literal = option instanceof z.ZodMiniObject ? option.shape[def.discriminator] : undefined;
      if (id === undefined || !(literal instanceof z.ZodMiniLiteral)) {
        throw new Error(`An alternative by ${def.discriminator} needs an id and one value of it`);
      }
      return [literal.def.values[0], `#/components/schemas/${id}`];
    }),
  ),
});
