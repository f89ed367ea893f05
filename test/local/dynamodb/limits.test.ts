/** DynamoDB's quotas, which the engine of local runs has to keep. This file also runs on DynamoDB Local. */
import {
  DynamoDBClient,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Engine, startEngine } from "../../aws/table/engine.ts";

let engine: Engine;
let client: DynamoDBClient;
let TableName: string;
beforeAll(async () => {
  engine = await startEngine();
  client = new DynamoDBClient({ maxAttempts: 1 });
  TableName = process.env.TABLE_NAME ?? "";
});
afterAll(async () => {
  client.destroy();
  await engine.stop();
});

const kilobytes = (size: number) => ({ S: "x".repeat(size * 1024) });
const key = (sk: string, pk = "a") => ({ pk: { S: pk }, sk: { S: sk } });
const put = (sk: string, size: number, pk = "a") =>
  client.send(new PutItemCommand({ TableName, Item: { ...key(sk, pk), text: kilobytes(size) } }));
const setMany = (count: number) => {
  const values = Array.from({ length: count }, (_, index) => [`:v${index}`, { S: "1" }] as const);
  return client.send(
    new UpdateItemCommand({
      TableName,
      Key: key("expression"),
      UpdateExpression: `SET ${values.map(([name]) => `a${name.slice(1)}=${name}`).join(",")}`,
      ExpressionAttributeValues: Object.fromEntries(values),
    }),
  );
};
const transact = (count: number, size: number) =>
  client.send(
    new TransactWriteItemsCommand({
      TransactItems: Array.from({ length: count }, (_, index) => ({
        Put: { TableName, Item: { ...key(`${index}`, "transaction"), text: kilobytes(size) } },
      })),
    }),
  );
const refused = { name: "ValidationException" };

test("an item has at most 400 KB, whether it is put or grows", async () => {
  await put("largest", 399);
  await expect(put("too large", 401)).rejects.toMatchObject(refused);
  const grow = new UpdateItemCommand({
    TableName,
    Key: key("largest"),
    UpdateExpression: "SET more = :more",
    ExpressionAttributeValues: { ":more": kilobytes(2) },
  });
  await expect(client.send(grow)).rejects.toMatchObject(refused);
});

test("an expression has at most 4 KB", async () => {
  await setMany(300);
  await expect(setMany(500)).rejects.toMatchObject(refused);
});

test("a transaction has at most 100 items and 4 MB, each item once", async () => {
  await transact(100, 0);
  await expect(transact(101, 0)).rejects.toMatchObject(refused);
  await transact(10, 399);
  await expect(transact(11, 399)).rejects.toMatchObject(refused);
  const twice = [1, 2].map(() => ({ Delete: { TableName, Key: key("twice") } }));
  const command = new TransactWriteItemsCommand({ TransactItems: twice });
  await expect(client.send(command)).rejects.toMatchObject(refused);
});
