/** One route as an operation of the document. */
import * as z from "zod/mini";
import type { oas31, ZodOpenApiOperationObject } from "zod-openapi";
import type { Endpoint, Route, Upload } from "../../shared/contract/endpoint.ts";
import { countedRequests, organizationLimits } from "../../shared/contract/limits.ts";
import { anyOf } from "../../shared/contract/text.ts";
import type { Part } from "./parts.ts";
import { headersOf, refusalReplies, refusedBy } from "./replies.ts";
import { type Json, parameterSchema } from "./schema.ts";

export const operation = (route: Route, part: Part): ZodOpenApiOperationObject => {
  const { routes } = part;
  const { method, name, endpoint } = route;
  const { upload, body } = endpoint;
  const paragraphs = [
    endpoint.description,
    endpoint.access === "admin" ? "Needs the role `admin`." : undefined,
    limitOf(route, routes),
  ].filter((text) => text !== undefined);
  const content = (schema: z.core.$ZodType) => ({ "application/json": { schema } });
  const parametersOf = (where: "path" | "query"): oas31.ParameterObject[] =>
    Object.entries(endpoint[where]?.shape ?? {}).map(([name, value]) => {
      const { description, ...schema } = parameterSchema(value);
      return {
        name,
        in: where,
        required: !z.safeParse(value, undefined).success,
        ...(typeof description === "string" && { description }),
        // Values separated by commas.
        ...(schema.type === "array" && { style: "form" as const, explode: false }),
        schema,
      };
    });
  const parameters = [
    ...parametersOf("path"),
    ...parametersOf("query"),
    ...(endpoint.repeatable ? [idempotencyKey] : []),
  ];
  return {
    operationId: camelCase(name),
    summary: endpoint.summary,
    ...(paragraphs.length > 0 && { description: paragraphs.join("\n\n") }),
    tags: [tagOf(route, part)],
    ...(endpoint.access === "anyone" && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(upload && { requestBody: { required: true, content: { "multipart/form-data": form(upload) } } }),
    ...(body && { requestBody: { required: true, content: content(body) } }),
    responses: {
      ...(endpoint.instead && {
        [endpoint.instead.status]: {
          description: endpoint.instead.when,
          headers: headersOf(endpoint.instead.status),
          content: content(endpoint.instead.reply),
        },
      }),
      [endpoint.status]: {
        description: { 200: "Done", 201: "Created", 202: "Accepted", 303: "The page" }[endpoint.status],
        headers: { ...headersOf(endpoint.status), ...cookieHeader(endpoint), ...locationHeader(endpoint) },
        content: content(endpoint.reply),
      },
      ...refusalReplies(refusedBy(method, endpoint), part.name),
    },
  };
};

const idempotencyKey: oas31.ParameterObject = {
  name: "Idempotency-Key",
  in: "header",
  description:
    "Repetitions with the same key within 24 hours change nothing and get the first reply, with " +
    "`Idempotency-Replayed: true`. Another request with the key is 422",
  schema: { type: "string", minLength: 16, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
  example: "8e03978e-40d5-43dd-bc93-6894a57f9324",
};

const cookieHeader = ({ cookie }: Endpoint): Json =>
  cookie === undefined
    ? {}
    : {
        "Set-Cookie": {
          description: cookie === "set" ? "The session" : "Makes the browser forget the session",
          required: true,
          schema: { type: "string" },
        },
      };

const locationHeader = ({ status }: Endpoint): Json =>
  status === 303
    ? { Location: { description: "The url of the page", required: true, schema: { type: "string" } } }
    : {};

/** `list-emails` as `listEmails`. */
export const camelCase = (name: string): string =>
  name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** What operations are grouped by: the first segment of their path. */
const tagOf = ({ path }: Route, { tags }: Part): string => {
  const [, tag = ""] = path.split("/");
  if (!(tag in tags)) throw new Error(`The OpenAPI document has no tag for ${path}`);
  return tag;
};

const limitOf = (route: Route, routes: readonly Route[]): string | undefined => {
  const { limit } = route.endpoint;
  if (limit === undefined) return undefined;
  const sharing = routes
    .filter((other) => other !== route && other.endpoint.limit === limit)
    .map(({ method, path }) => `${method} ${path}`);
  const shared = sharing.length === 0 ? "" : `, shared with ${sharing.join(" and ")}`;
  const counted = countedRequests[limit];
  const only = counted === undefined ? "" : ` Only ${counted} count.`;
  return `At most ${organizationLimits[limit]} an hour for each organization${shared}.${only}`;
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
        description: `Its name ends in ${anyOf(extensions)}; at most ${maximumBytes} bytes`,
      },
    },
  },
  example: { [field]: "Email,Name,Team\nada@demo.example,Ada Lovelace,Finance\n" },
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
