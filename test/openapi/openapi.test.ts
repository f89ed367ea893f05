/** Compares the OpenAPI documents with the contracts that they are derived from. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { openApiDocument } from "../../bin/openapi/document.ts";
import { dashboard, type Part, v1 } from "../../bin/openapi/parts.ts";
import type { Route } from "../../shared/contract/endpoint.ts";
import { refusals } from "../../shared/contract/errors.ts";

type Content = Record<string, { schema: unknown; example?: unknown }>;
type Response = { headers: Record<string, unknown>; content: Content };
type Operation = {
  operationId: string;
  description?: string;
  security?: unknown[];
  parameters?: { name: string; in: "path" | "query" | "header"; example?: unknown }[];
  requestBody?: { content: Content };
  responses: Record<string, Response | { $ref: string }>;
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, unknown>;
  security: unknown[];
  components: { responses: Record<string, Response> };
};

// As a client reads it: JSON does not keep that objects are shared.
const documentOf = (part: Part): Document => JSON.parse(JSON.stringify(openApiDocument(part)));

const operationsOf = (part: Part, document: Document) =>
  part.routes.map((route) => ({
    route,
    title: `${route.method} ${route.path}`,
    operation: document.paths[route.path]?.[route.method.toLowerCase()] as Operation,
  }));

/** The statuses of what every endpoint of this kind may answer. */
const alwaysOf = ({ method, endpoint: { access, status, whenLapsed } }: Route): number[] => [
  status,
  429,
  500,
  ...(access === "anyone" ? [] : [401]),
  ...(access === "anyone" || whenLapsed === "answers" ? [] : [402]),
  ...(method !== "GET" || access === "user" || access === "admin" ? [403] : []),
];

describe.each([
  { file: "openapi.json", part: v1 },
  { file: "openapi-dashboard.json", part: dashboard },
])("$file", ({ file, part }) => {
  const document = documentOf(part);
  const operations = operationsOf(part, document);
  const responseOf = (operation: Operation, status: number): Response | undefined => {
    const response = operation.responses[status];
    if (response === undefined || !("$ref" in response)) return response;
    return document.components.responses[response.$ref.replace("#/components/responses/", "")];
  };

  test("is in its file as the contracts give it", () => {
    const written = JSON.parse(readFileSync(join(import.meta.dirname, "../..", file), "utf8"));
    expect(written, `${file} is out of date: run \`npm run openapi\``).toEqual(document);
  });

  test("is valid OpenAPI 3.1 to an independent validator", async () => {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(structuredClone(document));
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
    expect(validator.version).toBe("3.1");
  });

  test.each(operations)("has every refusal of $title, with its code", ({ route, operation }) => {
    for (const name of route.endpoint.refusals) {
      const refusal: { status: number; error: string; code?: string } = refusals[name];
      const content = JSON.stringify(responseOf(operation, refusal.status));
      expect(content).toContain(refusal.error);
      if (refusal.code !== undefined)
        expect(content).toMatch(new RegExp(`"enum":\\[[^\\]]*"${refusal.code}"`));
    }
  });

  const exampled = part.isPublic ? operations : [];
  test.each(exampled)("has examples of $title that its contract takes", ({ route, operation }) => {
    const { path, query, body, upload, reply, instead, status } = route.endpoint;
    for (const [where, schema] of [["path", path] as const, ["query", query] as const]) {
      const given = (operation.parameters ?? []).filter((each) => each.in === where);
      expect(given.map(({ name }) => name)).toEqual(Object.keys(schema?.shape ?? {}));
      const values = Object.fromEntries(given.map(({ name, example }) => [name, String(example)]));
      if (schema !== undefined) expect(z.safeParse(schema, values)).toMatchObject({ success: true });
    }
    const content = operation.requestBody?.content;
    if (body !== undefined)
      expect(z.safeParse(body, content?.["application/json"]?.example)).toMatchObject({ success: true });
    if (upload !== undefined)
      expect(content?.["multipart/form-data"]?.example).toMatchObject({
        [upload.field]: expect.any(String),
      });
    for (const [code, schema] of [[status, reply] as const, [instead?.status, instead?.reply] as const]) {
      if (code === undefined || schema === undefined) continue;
      const example = responseOf(operation, code)?.content["application/json"]?.example;
      expect(z.safeParse(schema, example)).toEqual({ success: true, data: example });
    }
  });

  test.each(operations)("has the common replies of $title", ({ route, operation }) => {
    for (const status of alwaysOf(route)) {
      const response = responseOf(operation, status);
      expect(Object.keys(response?.content ?? {})).toEqual(["application/json"]);
      expect(Object.keys(response?.headers ?? {})).toContain("X-Request-Id");
    }
    expect(Object.keys(responseOf(operation, 429)?.headers ?? {})).toContain("Retry-After");
  });

  test.each(operations)("says who may call $title", ({ route: { endpoint }, operation }) => {
    expect(operation.security).toEqual(endpoint.access === "anyone" ? [] : undefined);
    expect(operation.description?.includes("role `admin`") ?? false).toBe(endpoint.access === "admin");
    expect(responseOf(operation, 402) !== undefined).toBe(alwaysOf({ endpoint } as Route).includes(402));
  });
});

test("WWW-Authenticate is in 401 of API Gateway, which keeps it from functions", () => {
  const { paths, components } = documentOf(dashboard);
  const redeem = paths["/sign-in/sessions"]?.post?.responses[401] as Response;
  expect(components.responses.Unauthenticated?.headers).toHaveProperty("WWW-Authenticate");
  expect(redeem.headers).not.toHaveProperty("WWW-Authenticate");
});

test("an option is refused, and nothing is written", () => {
  const program = join(import.meta.dirname, "../../bin/openapi/write.ts");
  const { status, stderr } = spawnSync(process.execPath, [program, "--check"], { encoding: "utf8" });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: '"npm run openapi" takes no options, and "--check" is one. Nothing was written.\n',
  });
});
