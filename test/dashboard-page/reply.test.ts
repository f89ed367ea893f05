/** What only API Gateway on AWS sends: HTTPS, and paths with the name of a deployment of its own. */
import type { APIGatewayProxyEvent } from "aws-lambda";
import { expect, test, vi } from "vitest";
import type { PageFiles } from "../../functions/serve-dashboard/files.ts";
import { replyWith } from "../../functions/serve-dashboard/reply.ts";

const file = {
  contentType: "text/html; charset=utf-8",
  text: "<!doctype html>",
  etag: 'W/"x"',
  isHashed: false,
};
const files: PageFiles = new Map([["index.html", file]]);
const eventOf = (headers: Record<string, string>): APIGatewayProxyEvent =>
  ({
    httpMethod: "GET",
    resource: "/app/{proxy+}",
    path: "/api/app/findings",
    pathParameters: { proxy: "findings" },
    headers,
    requestContext: { requestId: "1" },
  }) as unknown as APIGatewayProxyEvent;

test("Strict-Transport-Security goes out over HTTPS only, where browsers heed it", () => {
  const headers = () => replyWith(files, eventOf({ "X-Forwarded-Proto": "http" })).headers;
  expect(headers()).toMatchObject({ "Strict-Transport-Security": "max-age=63072000" });
  vi.stubEnv("PLAIN_HTTP", "true");
  expect(headers()).not.toHaveProperty("Strict-Transport-Security");
  vi.unstubAllEnvs();
});

test("the base path of a domain of its own makes no difference", () => {
  expect(replyWith(files, eventOf({}))).toMatchObject({ statusCode: 200, body: "<!doctype html>" });
});
