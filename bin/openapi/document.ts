import { createDocument, type ZodOpenApiPathsObject, type ZodOpenApiSecuritySchemeObject } from "zod-openapi";
import { eventData } from "../../shared/alerting/kinds/events.ts";
import { addExamples } from "./example.ts";
import { operation } from "./operation.ts";
import type { Part } from "./parts.ts";
import { errorSchema, headers, refusalReply, sharedRefusals } from "./replies.ts";
import { type Json, options } from "./schema.ts";
import { webhook } from "./webhook.ts";

/**
 * The OpenAPI 3.1 document of a part of the API, derived from the contracts of its routes. Throws when the
 * document cannot express a contract.
 */
export const openApiDocument = (part: Part): Json => {
  const { routes } = part;
  const paths: ZodOpenApiPathsObject = {};
  for (const route of routes) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(route, part),
    };
  }
  const webhooks = Object.fromEntries(
    Object.entries(part.isPublic ? eventData : {}).map(([type, data]) => [type, webhook(type, data)]),
  );
  const document = createDocument(
    {
      openapi: "3.1.1",
      info: { title: part.title, version: "1.0.0", description: part.description },
      servers: [
        {
          url: `{base_url}/api/${part.name}`,
          variables: {
            base_url: {
              default: "http://127.0.0.1:3000",
              description: "A local run; of a deployed stack its output `ApiUrl` without `/api/v1`",
            },
          },
        },
      ],
      security: part.security.map((scheme) => ({ [scheme]: [] })),
      tags: Object.entries(part.tags).map(([name, description]) => ({ name, description })),
      paths,
      ...(part.isPublic && { webhooks }),
      components: {
        securitySchemes: Object.fromEntries(part.security.map((scheme) => [scheme, securitySchemes[scheme]])),
        headers,
        responses: Object.fromEntries(
          Object.entries(sharedRefusals[part.name]).map(([name, names]) => [name, refusalReply(names)]),
        ),
        schemas: { Error: errorSchema([]) },
      },
    },
    options,
  );
  return part.isPublic ? addExamples({ ...document }) : { ...document };
};

const securitySchemes: Record<Part["security"][number], ZodOpenApiSecuritySchemeObject> = {
  apiKey: {
    type: "http",
    scheme: "bearer",
    description:
      "An API key (`bms_…`), shown once when it is created. An `Authorization` header alone " +
      "decides, unless it is of another scheme such as `Basic`; there are no scopes.",
  },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "__Host-session",
    description:
      "A user's session (named `session` over the plain HTTP of local runs). Requests other than " +
      "GET must carry an `Origin` (or `Sec-Fetch-Site: same-origin`) of the service's own.",
  },
};
