import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { expect } from "vitest";
import { toContext } from "../../shared/access/api/principal.ts";
import { serve } from "../../shared/access/api/serve.ts";
import type { Endpoint } from "../../shared/contract/endpoint.ts";
import { type RefusalName, refusals } from "../../shared/contract/errors.ts";

/** `path`: the parameters in it. `raw`: a body that is not made by JSON.stringify. */
type Input = { id?: string; path?: object; query?: string; body?: unknown; raw?: string };

/** Who may call an endpoint. */
const authorizerOf = ({ access }: Endpoint) => {
  if (access === "anyone") return toContext("anyone");
  if (access === undefined)
    return toContext({ organizationId: 1, actor: { type: "api_key", id: 2, label: "Test key" } });
  const actor = { type: "user", id: 2, label: "ada@acme.example" } as const;
  return toContext({ organizationId: 1, actor, session: { id: 3, hash: "hash", role: "admin" } });
};

/**
 * Asserts that an endpoint refuses input with 400 and these words, without its handler. Runs in this process:
 * over HTTP input.test.ts and order.test.ts show that this refusal reaches the client, and that such a
 * request is not counted.
 */
export const expectInvalid = (endpoint: Endpoint, input: Input, error: RegExp | string): Promise<void> =>
  expectRefused(endpoint, input, {
    status: refusals.invalidInput.status,
    error: typeof error === "string" ? error : expect.stringMatching(error),
  });

/** Asserts that an endpoint refuses input as a whole by this name, as for input that no person types. */
export const expectMalformed = (endpoint: Endpoint, input: Input, name: RefusalName): Promise<void> =>
  expectRefused(endpoint, input, refusals[name]);

const expectRefused = async (
  endpoint: Endpoint,
  { id, path, query, body, raw }: Input,
  refusal: object,
): Promise<void> => {
  process.env.POWERTOOLS_LOG_LEVEL = "SILENT";
  const parameters = new URLSearchParams(query);
  const event = {
    pathParameters: { id, ...path },
    multiValueQueryStringParameters: Object.fromEntries(
      [...parameters.keys()].map((name) => [name, parameters.getAll(name)]),
    ),
    body: raw ?? JSON.stringify(body),
    requestContext: { authorizer: authorizerOf(endpoint) },
  };
  const handler = serve(endpoint, async () => {
    throw new Error("The handler was called");
  });
  const reply = await handler(event as unknown as APIGatewayProxyEvent, {} as Context);
  expect({ status: reply.statusCode, ...JSON.parse(reply.body) }).toEqual(refusal);
};
