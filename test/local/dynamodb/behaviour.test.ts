import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, test } from "vitest";
import { type BehaviourSettings, undisturbed } from "../../../local/dynamodb/behaviour.ts";
import { dueIndex } from "../../../shared/aws/table/keys.ts";
import { startEngine } from "../../aws/table/engine.ts";

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

const start = async (settings: Partial<BehaviourSettings>) => {
  const engine = await startEngine({ ...undisturbed, ...settings });
  const client = new DynamoDBClient({ maxAttempts: 1 });
  ending.push(engine.stop, async () => client.destroy());
  const TableName = process.env.TABLE_NAME ?? "";
  const key = (sk: string, pk = "a") => ({ pk: { S: pk }, sk: { S: sk } });
  return {
    TableName,
    key,
    get: (sk: string) => client.send(new GetItemCommand({ TableName, Key: key(sk), ConsistentRead: true })),
    put: (sk: string, by = 1, pk = "a") =>
      client.send(new PutItemCommand({ TableName, Item: { ...key(sk, pk), by: { N: String(by) } } })),
    transact: (...names: string[]) =>
      client.send(
        new TransactWriteItemsCommand({
          TransactItems: names.map((name) => ({ Put: { TableName, Item: key(name) } })),
        }),
      ),
    send: client.send.bind(client) as DynamoDBClient["send"],
  };
};

const slow = { latency: { read: 0, write: 0, transaction: 800 } };
const began = () => new Promise((resolve) => setTimeout(resolve, 60));
const conflicting = (...codes: string[]) => ({
  name: "TransactionCanceledException",
  CancellationReasons: codes.map((Code) => expect.objectContaining({ Code })),
});

describe("a transaction in flight", () => {
  test("cancels another one that shares a row, and names the row", async () => {
    const { transact, get } = await start(slow);
    const first = transact("1", "2");
    await began();
    await expect(transact("3", "2")).rejects.toMatchObject(conflicting("None", "TransactionConflict"));
    await transact("4");
    await first;
    await transact("2");
    expect((await get("3")).Item).toBeUndefined();
  });

  test("refuses single writes of its rows, and no others", async () => {
    const { transact, put, get, key } = await start(slow);
    const first = transact("1");
    await began();
    await expect(put("1")).rejects.toMatchObject({ name: "TransactionConflictException" });
    await put("2");
    await first;
    expect((await get("1")).Item).toEqual(key("1"));
  });

  test("cancels a transaction that reads its rows; other reads see what is committed", async () => {
    const { transact, put, get, send, key, TableName } = await start(slow);
    await put("1", 7);
    const first = transact("1");
    await began();
    expect((await get("1")).Item).toMatchObject({ by: { N: "7" } });
    const TransactItems = [{ Get: { TableName, Key: key("1") } }];
    await expect(send(new TransactGetItemsCommand({ TransactItems }))).rejects.toMatchObject(
      conflicting("TransactionConflict"),
    );
    await first;
    const { Responses } = await send(new TransactGetItemsCommand({ TransactItems }));
    expect(Responses).toEqual([{ Item: key("1") }]);
  });

  test("is not begun again by its own token", async () => {
    const { send, key, TableName } = await start(slow);
    const input = { TransactItems: [{ Put: { TableName, Item: key("1") } }], ClientRequestToken: "token" };
    const first = send(new TransactWriteItemsCommand(input));
    await began();
    await expect(send(new TransactWriteItemsCommand(input))).rejects.toMatchObject({
      name: "TransactionInProgressException",
    });
    await first;
  });
});

test("a lost reply is of a write that was done", async () => {
  const { put, get } = await start({ lostReplies: 1 });
  await expect(put("1", 5)).rejects.toThrow();
  expect((await get("1")).Item).toMatchObject({ by: { N: "5" } });
});

test("reads, writes and transactions take the time that is asked for", async () => {
  const { put, get, transact } = await start({ latency: { read: 40, write: 80, transaction: 120 } });
  const timed = async (act: () => Promise<unknown>) => {
    const begin = performance.now();
    await act();
    return performance.now() - begin;
  };
  expect(await timed(() => get("1"))).toBeGreaterThanOrEqual(39);
  expect(await timed(() => put("1"))).toBeGreaterThanOrEqual(79);
  expect(await timed(() => transact("1"))).toBeGreaterThanOrEqual(119);
});

test("an index shows what the table held a while ago, and is queried as any other", async () => {
  const { TableName, key, send } = await start({ indexLag: 2_000 });
  const write = (sk: string, dueAt?: string) =>
    send(
      new PutItemCommand({
        TableName,
        Item: { ...key(sk), ...(dueAt && { dueShard: { S: "SCAN#0" }, dueAt: { S: dueAt } }) },
      }),
    );
  const due = async () => {
    const { Items = [] } = await send(
      new QueryCommand({
        TableName,
        IndexName: dueIndex.name,
        KeyConditionExpression: "#shard = :shard AND #at BETWEEN :from AND :to",
        ExpressionAttributeNames: { "#shard": dueIndex.partition, "#at": dueIndex.sort },
        ExpressionAttributeValues: {
          ":shard": { S: "SCAN#0" },
          ":from": { S: "2020" },
          ":to": { S: "2026" },
        },
      }),
    );
    return Items.map(({ sk, dueAt }) => `${sk?.S} ${dueAt?.S}`);
  };
  await write("1", "2025");
  expect(await due()).toEqual(["1 2025"]);
  await write("2", "2024");
  await write("3", "2027");
  await write("1");
  expect(await due()).toEqual(["1 2025"]);
  await expect.poll(due).toEqual(["2 2024"]);
});
