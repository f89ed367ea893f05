/** Makes the template's tables on a DynamoDB-compatible server. */
import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  ResourceNotFoundException,
  type TableDescription,
} from "@aws-sdk/client-dynamodb";
import type { Assembly } from "../template/assembly.ts";

/** What matters here of a table. Rows stay when their time to live is over, as they may on AWS. */
type TableProperties = {
  AttributeDefinitions: AttributeDefinition[];
  KeySchema: KeySchemaElement[];
  GlobalSecondaryIndexes?: GlobalSecondaryIndex[];
};

/** Creates missing tables. Rejects if an existing table has other keys or indexes. */
export const createTables = async (assembly: Assembly, endpoint: string): Promise<void> => {
  const client = new DynamoDBClient({
    endpoint,
    region: assembly.region,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  try {
    for (const { logicalId, properties } of assembly.ofType<TableProperties>("AWS::DynamoDB::Table")) {
      const name = assembly.physicalId(logicalId);
      const table = await describeTable(client, name);
      if (table === undefined) await createTable(client, name, properties);
      else checkTable(name, properties, table);
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

/** Rejects unless the table on disk is laid out as the template says. */
const checkTable = (name: string, properties: TableProperties, table: TableDescription): void => {
  if (layoutOf(table) !== layoutOf(properties)) {
    throw new Error(
      `The table ${name} on disk has other keys or indexes than the template. Start with another --data directory.`,
    );
  }
};

/** The template's index without what the engine does not know (throughput settings, insights). */
export const pickIndex = ({
  IndexName,
  KeySchema,
  Projection,
}: GlobalSecondaryIndex): GlobalSecondaryIndex => ({
  IndexName,
  KeySchema,
  Projection,
});

const layoutOf = ({ KeySchema, GlobalSecondaryIndexes = [] }: TableProperties | TableDescription): string =>
  JSON.stringify([
    keysOf(KeySchema),
    GlobalSecondaryIndexes.map((index) => [index.IndexName, keysOf(index.KeySchema)]).sort(),
  ]);

const keysOf = (keys: KeySchemaElement[] = []): string[] =>
  keys.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`).sort();
