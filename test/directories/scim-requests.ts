/** Requests of SCIM in the process of a test, as API Gateway hands them over. */
import { randomUUID } from "node:crypto";
import type { APIGatewayProxyEvent } from "aws-lambda";
import { answer } from "../../shared/people/scim/serve.ts";

export type ScimReply = { status: number; body: Record<string, unknown> };

/** `path`: below SCIM's root, such as `Users/12`. */
export const scimRequest = async (
  token: string,
  method: string,
  path: string,
  body?: unknown,
  query: Record<string, string> = {},
): Promise<ScimReply> => {
  const event = {
    httpMethod: method,
    resource: "/scim/v2/{proxy+}",
    path: `/scim/v2/${path}`,
    pathParameters: { proxy: path },
    queryStringParameters: query,
    multiValueHeaders: { Authorization: [`Bearer ${token}`], Host: ["localhost"] },
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: {
      stage: "api",
      requestId: randomUUID(),
      requestTimeEpoch: Date.now(),
      identity: { sourceIp: "127.0.0.1" },
    },
  } as unknown as APIGatewayProxyEvent;
  const { statusCode, body: text } = await answer(event);
  return { status: statusCode, body: text === "" ? {} : JSON.parse(text) };
};
