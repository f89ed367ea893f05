/**
 * The DynamoDB clients behind table.ts, made when they are first needed. Region, credentials and endpoint come
 * from where the SDK always looks for them.
 */
import { type AttributeValue, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { requireKnown, versionAttribute } from "../../contract/version.ts";
import { timeouts } from "../timeouts.ts";
import { maxAttempts, TableRetry } from "./patience.ts";

/** A page of a list may read one block for each of its members, all at the same time. */
const maxSockets = 100;

let client: DynamoDBClient | undefined;
let documentClient: DynamoDBDocumentClient | undefined;

/** The client for reads, with values as they are on the wire: converting every value takes a tenth of a list's time. */
export const wire = (): DynamoDBClient => {
  if (client !== undefined) return client;
  client = new DynamoDBClient({
    maxAttempts,
    retryStrategy: new TableRetry(maxAttempts),
    requestHandler: { ...timeouts, httpAgent: { maxSockets }, httpsAgent: { maxSockets } },
  });
  // It copies every reply for a logger that is not there. That takes two thirds of a long query's time.
  client.middlewareStack.remove("loggerMiddleware");
  return client;
};

/** The same client for writes, with JavaScript's values. */
export const documents = (): DynamoDBDocumentClient => {
  documentClient ??= DynamoDBDocumentClient.from(wire(), {
    marshallOptions: { removeUndefinedValues: true },
  });
  return documentClient;
};

/** The table's name, from the environment variable TABLE_NAME. */
export const tableName = (): string => {
  const name = process.env.TABLE_NAME;
  if (name === undefined || name === "") {
    throw new Error("TABLE_NAME is not set: set it to the name of the service's DynamoDB table");
  }
  return name;
};

/** A row with its values as they are on the wire: `{ N: "12" }`, `{ S: "a" }`. */
export type WireRow = Record<string, AttributeValue>;

/** A copy of the row without its version: V8 reads objects slowly after `delete`. Throws `NewerVersion`. */
export const readable = ({ [versionAttribute]: version, ...row }: WireRow): WireRow => {
  requireKnown("row", version?.N === undefined ? version : Number(version.N));
  return row;
};
