/** clients.ts removes middleware of the SDK by name: a new SDK may have other names. */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { beforeAll, expect, test } from "vitest";
import { documents, removedMiddleware, wire } from "../../../shared/aws/table/clients.ts";

beforeAll(() => {
  process.env.AWS_REGION ??= "us-east-1";
});

/** The names of a client's middleware, without what they are also known as. */
const middlewareOf = ({ middlewareStack }: Pick<DynamoDBClient, "middlewareStack">): string[] =>
  middlewareStack.identify().map((each) => each.replace(/ .*$/, ""));

const sdk = middlewareOf(new DynamoDBClient({}));

test.each(removedMiddleware)("the SDK still has the middleware %s, which costs time", (name) => {
  expect(sdk).toContain(name);
});

test.each([
  ["reads", wire],
  ["writes", documents],
] as const)("the client for %s has all of the SDK's middleware but the removed", (_, client) => {
  const kept = sdk.filter((name) => !(removedMiddleware as readonly string[]).includes(name));
  expect(middlewareOf(client())).toEqual(kept);
});
