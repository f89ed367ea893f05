/** Makes the template's tables on a DynamoDB-compatible server. */
import { setTimeout as pause } from "node:timers/promises";
import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  ResourceNotFoundException,
  type TableDescription,
  UpdateTableCommand,
} from "@aws-sdk/client-dynamodb";
import type { Assembly } from "../template/assembly.ts";

/** What matters here of a table. Rows stay when their time to live is over, as they may on AWS. */
type TableProperties = {
  AttributeDefinitions: AttributeDefinition[];
  KeySchema: KeySchemaElement[];
  GlobalSecondaryIndexes?: GlobalSecondaryIndex[];
};

/** Creates missing tables and indexes. Rejects if an existing table has other keys. */
export const createTables = async (assembly: Assembly, endpoint: string): Promise<void> => {
  const client = new DynamoDBClient({
    endpoint,
    region: assembly.region,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  try {
    for (const { logicalId, properties } of assembly.ofType<TableProperties>("AWS::DynamoDB::Table")) {
      const name = assembly.physicalId(logicalId);
      const found = await describeTable(client, name);
      if (found === undefined) await createTable(client, name, properties);
      else await completeTable(client, name, properties, found);
    }
  } finally {
    client.destroy();
  }
};

const describeTable = async (client: DynamoDBClient, name: string): Promise<TableDescription | undefined> => {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
};

const createTable = async (
  client: DynamoDBClient,
  name: string,
  properties: TableProperties,
): Promise<void> => {
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions: properties.AttributeDefinitions,
      KeySchema: properties.KeySchema,
      GlobalSecondaryIndexes: properties.GlobalSecondaryIndexes?.map(pickIndex),
    }),
  );
};

const completeTable = async (
  client: DynamoDBClient,
  name: string,
  properties: TableProperties,
  found: TableDescription,
): Promise<void> => {
  if (describeKeys(found.KeySchema) !== describeKeys(properties.KeySchema)) {
    throw new Error(
      `The table ${name} on disk has other keys than the template. Start with another --data directory.`,
    );
  }
  const present = new Set(found.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
  for (const index of properties.GlobalSecondaryIndexes ?? []) {
    if (present.has(index.IndexName)) continue;
    await client.send(
      new UpdateTableCommand({
        TableName: name,
        AttributeDefinitions: properties.AttributeDefinitions,
        GlobalSecondaryIndexUpdates: [{ Create: pickIndex(index) }],
      }),
    );
    await waitForIndexes(client, name);
  }
};

/** DynamoDB Local makes indexes one at a time, and answers no query of one before. */
const waitForIndexes = async (client: DynamoDBClient, name: string): Promise<void> => {
  const isMade = async (): Promise<boolean> =>
    (await describeTable(client, name))?.GlobalSecondaryIndexes?.every(
      ({ IndexStatus = "ACTIVE" }) => IndexStatus === "ACTIVE",
    ) ?? true;
  while (!(await isMade())) await pause(50);
};

/** The template's index without what the engine does not know (throughput settings, insights). */
const pickIndex = ({ IndexName, KeySchema, Projection }: GlobalSecondaryIndex): GlobalSecondaryIndex => ({
  IndexName,
  KeySchema,
  Projection,
});

const describeKeys = (keys: KeySchemaElement[] | undefined): string =>
  JSON.stringify(keys?.map(({ AttributeName, KeyType }) => [KeyType, AttributeName]).sort());
