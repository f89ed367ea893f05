/** The OpenAPI document says what the contracts say, in a form that others understand. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { routes } from "../../functions/routes.ts";
import { refusals } from "../../shared/api/errors.ts";
import { openApiDocument } from "../../shared/api/openapi.ts";

type Response = { headers: Record<string, unknown>; content: Record<string, { schema: unknown }> };
type Operation = {
  operationId: string;
  description?: string;
  responses: Record<string, Response | { $ref: string }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, unknown>;
  components: { responses: Record<string, Response> };
};

// As it is read: the generator shares objects that JSON doesn't.
const document: Document = JSON.parse(JSON.stringify(openApiDocument(routes)));

const responseOf = (operation: Operation, status: number): Response | undefined => {
  const response = operation.responses[status];
  if (response === undefined || !("$ref" in response)) return response;
  return document.components.responses[response.$ref.replace("#/components/responses/", "")];
};

const operations = routes.map((route) => ({
  route,
  title: `${route.method} ${route.path}`,
  operation: document.paths[route.path]?.[route.method.toLowerCase()] as Operation,
}));

describe("the OpenAPI document", () => {
  test("openapi.json is what the contracts give", () => {
    const written = JSON.parse(readFileSync(join(import.meta.dirname, "../../openapi.json"), "utf8"));
    expect(written, "openapi.json is out of date: run `npm run openapi`").toEqual(document);
  });

  test("is valid OpenAPI 3.1, says an independent validator", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(validator.version).toBe("3.1");
  });

  test.each(operations)("$title has every refusal of its contract, with its code", ({ route, operation }) => {
    for (const name of route.endpoint.refusals) {
      const refusal: { status: number; error: string; code?: string } = refusals[name];
      const content = JSON.stringify(responseOf(operation, refusal.status));
      expect(content).toContain(refusal.error);
      if (refusal.code !== undefined) expect(content).toContain(`"enum":["${refusal.code}"`);
    }
  });

  test.each(operations)("$title has what every endpoint may answer", ({ route, operation }) => {
    const always = [route.endpoint.status, 401, 402, 429, 500, ...(route.method === "GET" ? [] : [403])];
    for (const status of always) {
      const response = responseOf(operation, status);
      expect(Object.keys(response?.content ?? {})).toEqual(["application/json"]);
      expect(Object.keys(response?.headers ?? {})).toContain("X-Request-Id");
    }
    expect(Object.keys(responseOf(operation, 429)?.headers ?? {})).toContain("Retry-After");
  });

  test("says of writes of alert channels, and of nothing else, which of them count against their limit", () => {
    const some = operations.filter(({ operation }) =>
      operation.description?.endsWith("Only Slack or webhook writes that resolve a hostname count."),
    );
    expect(some.map(({ title }) => title)).toEqual(["POST /alert-configs", "PATCH /alert-configs/{id}"]);
  });

  test("tells of every event that a webhook receives", () => {
    expect(Object.keys(document.webhooks)).toEqual(["breach", "scan_complete", "scan_error"]);
  });
});
