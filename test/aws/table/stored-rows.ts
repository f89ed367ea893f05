/** Rows of the table TABLE_NAME as they are stored, past the product's client. */
import { setTimeout } from "node:timers/promises";
import {
  type AttributeValue,
  BatchWriteItemCommand,
  DynamoDBClient,
  paginateScan,
} from "@aws-sdk/client-dynamodb";

export type WireRow = Record<string, AttributeValue>;

/** DynamoDB takes this many writes in a batch. */
const batchSize = 25;

/** Writes rows as they are, to the table TABLE_NAME. */
export const store = async (rows: readonly WireRow[]): Promise<void> => {
  const client = new DynamoDBClient();
  const tableName = process.env.TABLE_NAME ?? "";
  for (let start = 0; start < rows.length; start += batchSize) {
    let left = rows.slice(start, start + batchSize).map((Item) => ({ PutRequest: { Item } }));
    while (left.length > 0) {
      const reply = await client.send(new BatchWriteItemCommand({ RequestItems: { [tableName]: left } }));
      left = (reply.UnprocessedItems?.[tableName] ?? []) as typeof left;
      if (left.length > 0) await setTimeout(100);
    }
  }
  client.destroy();
};

/** Every row of the table TABLE_NAME, as it is. */
export const storedRows = async (): Promise<WireRow[]> => {
  const client = new DynamoDBClient();
  const rows: WireRow[] = [];
  for await (const page of paginateScan(
    { client },
    { TableName: process.env.TABLE_NAME, ConsistentRead: true },
  )) {
    rows.push(...(page.Items ?? []));
  }
  client.destroy();
  return rows;
};
