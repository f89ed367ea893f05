import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { toContext } from "../../../shared/access/api/principal.ts";
import { serve } from "../../../shared/access/api/serve.ts";
import { defineEndpoint } from "../../../shared/contract/endpoint.ts";

test("a reply holds only what its contract declares, at any depth", async () => {
  vi.stubEnv("POWERTOOLS_LOG_LEVEL", "SILENT");
  const endpoint = defineEndpoint({
    summary: "A test",
    status: 200,
    reply: z.object({ id: z.number(), users: z.array(z.object({ label: z.string() })) }),
    refusals: [],
    uses: [],
  });
  const row = { id: 7, secret: "s3cret", users: [{ label: "Ada", passwordHash: "h4sh" }] };
  const handler = serve(endpoint, async () => row);
  const event = {
    requestContext: {
      authorizer: toContext({ organizationId: 1, actor: { type: "api_key", id: 2, label: "Test key" } }),
    },
  };
  const reply = await handler(event as unknown as APIGatewayProxyEvent, {} as Context);
  expect(reply.statusCode).toBe(200);
  expect(JSON.parse(reply.body)).toEqual({ id: 7, users: [{ label: "Ada" }] });
  vi.unstubAllEnvs();
});
