/** Writes seeded tables. */
import { BatchWriteItemCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { startDynamodb } from "../local/dynamodb/dynamodb.ts";
import { type Assembly, openAssembly } from "../local/template/assembly.ts";
import type { Context } from "./arm.ts";
import type { Row } from "./seed/shape.ts";

/** DynamoDB's quota. */
const rowsPerRequest = 25;
const requestsAtOnce = 4;

/** A client of the engine itself, whose requests no meter counts. */
export const engineClient = (url: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint: url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });

export const openedAssembly = (directory: string): Assembly =>
  openAssembly(directory, { region: "us-east-1", accountId: "000000000000" });

/** The name of the stack's one table. */
export const tableName = (assemblyDirectory: string): string => {
  const assembly = openedAssembly(assemblyDirectory);
  const [table] = assembly.ofType("AWS::DynamoDB::Table");
  if (table === undefined) throw new Error("The template has no DynamoDB table");
  return assembly.physicalId(table.logicalId);
};

/**
 * Writes these rows into a directory that a local run can use as its data. `of`: about how many rows there are, for progress.
 */
export const createDatabase = async (
  directory: string,
  assemblyDirectory: string,
  { rows, of, progress }: { rows: Iterator<Row>; of: number; progress: Context["progress"] },
): Promise<void> => {
  const engine = await startDynamodb({ assembly: openedAssembly(assemblyDirectory), directory });
  const client = engineClient(engine.endpoint);
  const name = tableName(assemblyDirectory);
  let done = 0;
  const writeRows = async (): Promise<void> => {
    for (let batch = take(rows); batch.length > 0; batch = take(rows)) {
      const puts = batch.map((row) => ({
        PutRequest: { Item: marshall(row, { removeUndefinedValues: true }) },
      }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [name]: puts } }));
      done += batch.length;
      progress(`${of.toLocaleString("en-US")} rows: writing`, done, of);
    }
  };
  await Promise.all(Array.from({ length: requestsAtOnce }, writeRows));
  client.destroy();
  await engine.close();
};

const take = (rows: Iterator<Row>): Row[] => {
  const taken: Row[] = [];
  while (taken.length < rowsPerRequest) {
    const { done, value } = rows.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
};
