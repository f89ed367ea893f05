import { rmSync } from "node:fs";
import { type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Gateway, startGateway } from "../../../local/gateway/gateway.ts";
import { type Lambda, openLambda } from "../../../local/lambda/lambda.ts";
import { openAssembly } from "../../../local/template/assembly.ts";
import { functionsOf, writeAssembly } from "../template.ts";

const sources = {
  // Answers with the event, or with the reply that the request's body holds.
  Echo: `export const handler = async (event) => {
    const body = event.body?.startsWith('{"reply"') ? JSON.parse(event.body) : undefined;
    if (body?.reply === "throw") throw new Error("secret detail");
    if (body?.reply === "wait") await new Promise((resolve) => setTimeout(resolve, 5000));
    return body?.reply ?? { statusCode: 200, body: JSON.stringify(event) };
  };`,
  // Does what the Authorization header says. The context of its answer holds the event that it got.
  Authorize: `export const handler = async (event) => {
    const what = event.headers.Authorization;
    if (what === "unauthorized") throw new Error("Unauthorized");
    if (what === "fail") throw new Error("oops");
    if (what === "malformed") return { principalId: "me" };
    const Resource = what === "other" ? event.methodArn.replace("/GET/", "/PUT/") : event.methodArn;
    const context = what === "nested" ? { list: [1] } : { org: 7, isTrial: true, event: JSON.stringify(event) };
    return {
      principalId: "me",
      policyDocument: { Version: "2012-10-17", Statement: [
        { Action: "execute-api:Invoke", Effect: "Allow", Resource },
        ...(what === "deny" ? [{ Action: "execute-api:*", Effect: "Deny", Resource: "*" }] : []),
      ] },
      context,
    };
  };`,
};

const uriOf = (name: string) => ({
  "Fn::Join": [
    "",
    ["arn:aws:apigateway:us-east-1:lambda:path/2015-03-31/functions/", arnOf(name), "/invocations"],
  ],
});
const arnOf = (name: string) => ({ "Fn::GetAtt": [name, "Arn"] });
const role = (service: string, invokes: readonly string[]) => ({
  Type: "AWS::IAM::Role",
  Properties: {
    AssumeRolePolicyDocument: { Statement: [{ Effect: "Allow", Principal: { Service: service } }] },
    Policies: [
      {
        PolicyDocument: {
          Statement: [{ Effect: "Allow", Action: "lambda:InvokeFunction", Resource: invokes.map(arnOf) }],
        },
      },
    ],
  },
});
const inRole = (name: string, timeoutInMillis = 29_000) => ({
  "x-amazon-apigateway-integration": {
    type: "aws_proxy",
    uri: uriOf("Echo"),
    timeoutInMillis,
    credentials: arnOf(name),
  },
});
const authorized = { security: [{ authorizer: [] }] };

const document = {
  openapi: "3.0.1",
  paths: {
    "/v1/emails": { get: inRole("Invoker"), post: inRole("Invoker") },
    "/v1": { post: inRole("Invoker", 100) },
    "/private": { get: { ...authorized, ...inRole("Invoker") } },
    "/forgotten": {
      post: inRole("Invoker"),
      put: inRole("OtherInvoker"),
      patch: inRole("ForeignInvoker"),
    },
  },
  components: {
    securitySchemes: {
      authorizer: {
        type: "apiKey",
        "x-amazon-apigateway-authorizer": {
          type: "request",
          authorizerUri: uriOf("Authorize"),
          authorizerCredentials: arnOf("Invoker"),
        },
      },
    },
  },
  "x-amazon-apigateway-gateway-responses": {
    DEFAULT_4XX: { responseTemplates: { "application/json": '{"error":$context.error.messageString}' } },
    DEFAULT_5XX: {
      statusCode: 500,
      responseTemplates: { "application/json": '{"error":"Internal error"}' },
    },
    ACCESS_DENIED: {
      statusCode: 401,
      responseParameters: {
        "gatewayresponse.header.X-Request-Id": "context.requestId",
        "gatewayresponse.header.WWW-Authenticate": "'Bearer'",
      },
      responseTemplates: { "application/json": '{"error":"no","org":"$context.authorizer.org"}' },
    },
  },
};

const resources = {
  ...functionsOf(sources, { Timeout: 10 }),
  Api: {
    Type: "AWS::ApiGateway::RestApi",
    Properties: {
      Name: "api",
      Body: document,
      BinaryMediaTypes: ["multipart/form-data"],
      MinimumCompressionSize: 1024,
    },
  },
  Stage: {
    Type: "AWS::ApiGateway::Stage",
    Properties: { RestApiId: { Ref: "Api" }, StageName: "api" },
  },
  Invoker: role("apigateway.amazonaws.com", ["Echo", "Authorize"]),
  OtherInvoker: role("apigateway.amazonaws.com", ["Authorize"]),
  ForeignInvoker: role("scheduler.amazonaws.com", ["Echo"]),
};

let directory: string;
let lambda: Lambda;
let gateway: Gateway;

beforeAll(async () => {
  directory = writeAssembly(resources, sources);
  const assembly = openAssembly(directory, { region: "us-east-1", accountId: "000000000000" });
  lambda = openLambda({ assembly, logDirectory: join(directory, "logs"), speed: 1, variables: () => ({}) });
  gateway = await startGateway({ assembly, lambda, port: 0 });
});

afterAll(async () => {
  await gateway.close();
  await lambda.close();
  rmSync(directory, { recursive: true });
});

type Reply = { status: number; headers: IncomingHttpHeaders; bytes: Buffer; json: Record<string, unknown> };

/** Sends a request with exactly this path, from any address of 127.0.0.0/8. */
const send = (
  verb: string,
  path: string,
  options: { headers?: string[]; body?: string | Buffer; isChunked?: boolean; localAddress?: string } = {},
): Promise<Reply> => {
  const { port } = new URL(gateway.url);
  return new Promise((resolve, reject) => {
    const { localAddress = "127.0.0.1", headers = [], body } = options;
    const length =
      body === undefined || options.isChunked ? [] : ["Content-Length", String(Buffer.byteLength(body))];
    const sent = request(
      {
        port,
        host: "127.0.0.1",
        method: verb,
        path,
        localAddress,
        headers: ["Host", `127.0.0.1:${port}`, ...headers, ...length],
      },
      (response) => resolve(read(response)),
    );
    sent.on("error", reject);
    if (body !== undefined) sent.write(body);
    sent.end();
  });
};

const read = async (response: IncomingMessage): Promise<Reply> => {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString();
  const json = text.startsWith("{") ? JSON.parse(text) : {};
  return { status: response.statusCode ?? 0, headers: response.headers, bytes, json };
};

// endpoints/routes.test.ts has which path is answered by which method.
test("a function is invoked in a role that may do so and API Gateway may assume", async () => {
  const statuses = ["POST", "PUT", "PATCH"].map(async (verb) => (await send(verb, "/api/forgotten")).status);
  expect(await Promise.all(statuses)).toEqual([200, 500, 500]);
});

describe("an integration's event", () => {
  test("has the form of a REST API's proxy event", async () => {
    const { json, headers } = await send("GET", "/api/v1/emails?a=1&a=2&b=x%2By+z", {
      headers: ["X-Custom", "one", "X-Custom", "two", "User-Agent", "test", "X-Forwarded-For", "8.8.8.8"],
      localAddress: "127.0.0.9",
    });
    expect(json).toMatchObject({
      resource: "/v1/emails",
      path: "/v1/emails",
      httpMethod: "GET",
      headers: { "X-Custom": "two", "X-Forwarded-For": "8.8.8.8, 127.0.0.9", "X-Forwarded-Proto": "http" },
      multiValueHeaders: { "X-Custom": ["one", "two"] },
      queryStringParameters: { a: "2", b: "x+y z" },
      multiValueQueryStringParameters: { a: ["1", "2"], b: ["x+y z"] },
      pathParameters: null,
      stageVariables: null,
      requestContext: {
        apiId: "local",
        httpMethod: "GET",
        identity: { sourceIp: "127.0.0.9", userAgent: "test" },
        path: "/api/v1/emails",
        requestId: headers["x-amzn-requestid"],
        requestTimeEpoch: expect.any(Number),
        resourcePath: "/v1/emails",
        stage: "api",
      },
      body: null,
      isBase64Encoded: false,
    });
    expect((await send("GET", "/api/v1/emails")).json).toMatchObject({ queryStringParameters: null });
  });

  test("has a compressed body unpacked, or else is refused", async () => {
    const headers = ["Content-Encoding", "gzip"];
    const { json } = await send("POST", "/api/v1/emails", { headers, body: gzipSync("plain") });
    expect(json).toMatchObject({ body: "plain" });
    expect(json.headers).not.toHaveProperty("Content-Encoding");
    expect(await send("POST", "/api/v1/emails", { headers, body: "plain" })).toMatchObject({ status: 415 });
    const brotli = { headers: ["Content-Encoding", "br"], body: "plain" };
    expect(await send("POST", "/api/v1/emails", brotli)).toMatchObject({ status: 415 });
    const bomb = gzipSync(Buffer.alloc(11 * 1024 * 1024));
    expect(await send("POST", "/api/v1/emails", { headers, body: bomb })).toMatchObject({ status: 413 });
  });
});

describe("the answer of a function", () => {
  test.each([
    [null],
    ["text"],
    [{}],
    [{ statusCode: 200, body: { not: "text" } }],
    [{ statusCode: 200, cookies: [] }],
    ["throw"],
  ])("that is %j is an internal error without details", async (reply) => {
    const { status, json } = await send("POST", "/api/v1/emails", {
      body: reply === null ? '{"reply":false}' : JSON.stringify({ reply }),
    });
    expect({ status, json }).toEqual({ status: 500, json: { error: "Internal error" } });
  });

  test("that comes too late is refused as a timeout", async () => {
    expect(await send("POST", "/api/v1", { body: '{"reply":"wait"}' })).toMatchObject({
      status: 500,
      headers: { "x-amzn-errortype": "INTEGRATION_TIMEOUT" },
    });
  });
});

describe("the authorizer", () => {
  const call = (authorization?: string) =>
    send("GET", "/api/private?q=1", {
      headers: authorization === undefined ? [] : ["Authorization", authorization],
    });

  test("passes its context on to the integration as text", async () => {
    const { status, json } = await call("fine");
    expect(status).toBe(200);
    const { authorizer, requestId } = json.requestContext as Record<string, Record<string, string>>;
    expect(authorizer).toMatchObject({ principalId: "me", org: "7", isTrial: "true" });
    expect(JSON.parse(authorizer?.event ?? "")).toMatchObject({
      type: "REQUEST",
      methodArn: "arn:aws:execute-api:us-east-1:000000000000:local/api/GET/private",
      resource: "/private",
      queryStringParameters: { q: "1" },
      pathParameters: {},
      requestContext: { requestId, identity: { sourceIp: "127.0.0.1" } },
    });
  });

  test("refuses with the template's response, which may use its context", async () => {
    const { status, json, headers } = await call("deny");
    expect({ status, json }).toEqual({ status: 401, json: { error: "no", org: "7" } });
    expect(headers).toMatchObject({
      "www-authenticate": "Bearer",
      "x-request-id": headers["x-amzn-requestid"],
      "content-type": "application/json",
    });
    // The policy allows the path, but with another method.
    expect(await call("other")).toMatchObject({ status: 401 });
  });

  test.each([
    ["unauthorized", 401, "UNAUTHORIZED"],
    ["fail", 500, "AUTHORIZER_FAILURE"],
    ["malformed", 500, "AUTHORIZER_CONFIGURATION_ERROR"],
    ["nested", 500, "AUTHORIZER_CONFIGURATION_ERROR"],
  ])("that answers %s gives %i %s", async (authorization, status, type) => {
    expect(await call(authorization)).toMatchObject({ status, headers: { "x-amzn-errortype": type } });
  });
});

describe("limits", () => {
  test("a body over 10 MB is 413 in plain text, with or without Content-Length", async () => {
    const body = Buffer.alloc(10 * 1024 * 1024 + 1, "x");
    for (const isChunked of [false, true]) {
      const reply = await send("POST", "/api/nowhere", { body, isChunked });
      expect(reply).toMatchObject({ status: 413, headers: { "content-type": "text/plain; charset=utf-8" } });
      expect(reply.bytes.toString()).toBe("HTTP content length exceeded 10485760 bytes.");
      expect(reply.headers["x-amzn-requestid"]).toBeUndefined();
    }
  });

  test("headers over 10,240 bytes are 431", async () => {
    const headers = ["X-Long", "x".repeat(11_000)];
    expect(await send("GET", "/api/v1/emails", { headers })).toMatchObject({ status: 431 });
  });
});
