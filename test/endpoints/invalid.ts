import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { expect } from "vitest";
import { toContext } from "../../shared/access/api/principal.ts";
import { serve } from "../../shared/access/api/serve.ts";
import type { Endpoint } from "../../shared/contract/endpoint.ts";

/** `raw`: a body that is not made by JSON.stringify. */
type Input = { id?: string; query?: string; body?: unknown; raw?: string };

const authorizer = toContext({ organizationId: 1, actor: { type: "api_key", id: 2, label: "Test key" } });

/**
 * Asserts that an endpoint refuses input with 400 and these words, without its handler. Runs in this process: over HTTP input.test.ts
 * and order.test.ts show that this refusal reaches the client, and that such a request is not counted.
 */
export const expectInvalid = async (
  endpoint: Endpoint,
  { id, query, body, raw }: Input,
  error: RegExp | string,
): Promise<void> => {
  process.env.POWERTOOLS_LOG_LEVEL = "SILENT";
  const parameters = new URLSearchParams(query);
  const event = {
    pathParameters: { id },
    multiValueQueryStringParameters: Object.fromEntries(
      [...parameters.keys()].map((name) => [name, parameters.getAll(name)]),
    ),
    body: raw ?? JSON.stringify(body),
    requestContext: { authorizer },
  };
  const handler = serve(endpoint, async () => {
    throw new Error("The handler was called");
  });
  const reply = await handler(event as unknown as APIGatewayProxyEvent, {} as Context);
  expect({ status: reply.statusCode, ...JSON.parse(reply.body) }).toEqual({
    status: 400,
    error: typeof error === "string" ? error : expect.stringMatching(error),
  });
};
