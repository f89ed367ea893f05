/**
 * The two DynamoDB clients behind table.ts, each made when it is first needed. Region, credentials and
 * endpoint come from where the SDK always looks for them.
 */
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { Sha256 } from "./sha256.ts";

/** A page of a list may read one block for each of its members, all at the same time. */
const maxSockets = 100;
/** Tries that the SDK makes of each request; contention.ts adds tries of whole operations. */
const maxAttempts = 4;

/**
 * Middleware of the SDK that costs time and does nothing for this service. The logger walks through every
 * input and output even when there is no logger: a fifth of a list's time. The user agent lists for AWS's
 * statistics which features of the SDK each call uses: a seventh.
 */
export const removedMiddleware = ["loggerMiddleware", "getUserAgentMiddleware"] as const;

let reader: DynamoDBClient | undefined;
let writer: DynamoDBDocumentClient | undefined;

/**
 * The client for reads. It takes and gives values as they are on the wire, since converting every value would
 * be a tenth of a list's time; each command's middleware is put together once.
 */
export const wire = (): DynamoDBClient => {
  reader ??= withoutRemoved(
    new DynamoDBClient({
      maxAttempts,
      sha256: Sha256,
      cacheMiddleware: true,
      requestHandler: {
        connectionTimeout: 1_000,
        requestTimeout: 5_000,
        throwOnRequestTimeout: true,
        httpAgent: { maxSockets },
        httpsAgent: { maxSockets },
      },
    }),
  );
  return reader;
};

/** The client for writes, with the connections of `wire`. Document clients refuse cached middleware. */
export const documents = (): DynamoDBDocumentClient => {
  writer ??= DynamoDBDocumentClient.from(
    withoutRemoved(
      new DynamoDBClient({ maxAttempts, sha256: Sha256, requestHandler: wire().config.requestHandler }),
    ),
    { marshallOptions: { removeUndefinedValues: true } },
  );
  return writer;
};

const withoutRemoved = (client: DynamoDBClient): DynamoDBClient => {
  for (const name of removedMiddleware) client.middlewareStack.remove(name);
  return client;
};

/** The table's name, from the environment variable TABLE_NAME. */
export const tableName = (): string => {
  const name = process.env.TABLE_NAME;
  if (name === undefined || name === "") {
    throw new Error("TABLE_NAME is not set: set it to the name of the service's DynamoDB table");
  }
  return name;
};
