import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type BehaviourSettings,
  openBehaviour,
  ReplyLost,
  type Send,
  undisturbed,
} from "../../../local/dynamodb/behaviour.ts";
import { dueIndex } from "../../../shared/aws/table/keys.ts";
import { type Engine, startEngine } from "../../aws/table/engine.ts";

let engine: Engine;
let TableName: string;
beforeAll(async () => {
  engine = await startEngine();
  TableName = process.env.TABLE_NAME ?? "";
});
afterAll(() => engine.stop());

const credential = "Credential=local/20260101/us-east-1/dynamodb/aws4_request";
const send: Send = async (body, operation) => {
  const reply = await fetch(engine.url, {
    method: "POST",
    headers: {
      "content-type": "application/x-amz-json-1.0",
      "x-amz-target": `DynamoDB_20120810.${operation}`,
      "x-amz-date": "20260101T000000Z",
      authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=0`,
    },
    body: new Uint8Array(body),
  });
  return { status: reply.status, headers: {}, body: Buffer.from(await reply.arrayBuffer()) };
};

/** Behaves in front of the engine. `hold` keeps the next request from the engine until it is released. */
const open = (settings: Partial<BehaviourSettings> = {}) => {
  const behave = openBehaviour({ ...undisturbed, ...settings }, () => ["pk", "sk"]);
  let held: { begun: () => void; released: Promise<void> } | undefined;
  return {
    ask: async (operation: string, input: object) => {
      const body = { TableName, ...input };
      const answer = await behave(
        operation,
        body,
        Buffer.from(JSON.stringify(body)),
        async (bytes, other) => {
          const holding = held;
          held = undefined;
          holding?.begun();
          await holding?.released;
          return send(bytes, other ?? operation);
        },
      );
      return { status: answer.status, ...JSON.parse(answer.body.toString()) };
    },
    hold: () => {
      const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { begun: begun.resolve, released: released.promise };
      return { begun: begun.promise, release: released.resolve };
    },
  };
};

const key = (sk: string) => ({ pk: { S: "a" }, sk: { S: sk } });
const item = (sk: string, by: number) => ({ Item: { ...key(sk), by: { N: String(by) } } });
const writing = (...names: string[]) => ({
  TransactItems: names.map((name) => ({ Put: { TableName, ...item(name, 1) } })),
});
const reading = (sk: string) => ({ TransactItems: [{ Get: { TableName, Key: key(sk) } }] });
const refusal = (code: string) => ({ status: 400, __type: expect.stringMatching(`#${code}$`) });
const conflicting = (...codes: string[]) => ({
  ...refusal("TransactionCanceledException"),
  CancellationReasons: codes.map((Code) => expect.objectContaining({ Code })),
});

test("a transaction in flight refuses what shares a row with it, and nothing else", async () => {
  const { ask, hold } = open();
  await ask("PutItem", item("1", 7));
  const { begun, release } = hold();
  const first = ask("TransactWriteItems", { ...writing("1", "2"), ClientRequestToken: "token" });
  await begun;
  expect(await ask("TransactWriteItems", writing("3", "2"))).toMatchObject(
    conflicting("None", "TransactionConflict"),
  );
  expect(await ask("PutItem", item("1", 8))).toMatchObject(refusal("TransactionConflictException"));
  expect(await ask("TransactGetItems", reading("1"))).toMatchObject(conflicting("TransactionConflict"));
  expect(
    await ask("TransactWriteItems", { ...writing("1", "2"), ClientRequestToken: "token" }),
  ).toMatchObject(refusal("TransactionInProgressException"));
  expect(await ask("GetItem", { Key: key("1"), ConsistentRead: true })).toMatchObject(item("1", 7));
  expect(await ask("PutItem", item("4", 4))).toEqual({ status: 200 });
  expect(await ask("TransactWriteItems", writing("5"))).toEqual({ status: 200 });
  release();
  expect(await first).toEqual({ status: 200 });
  expect(await ask("TransactWriteItems", writing("2"))).toEqual({ status: 200 });
  expect(await ask("TransactGetItems", reading("1"))).toMatchObject({ Responses: [item("1", 1)] });
  expect(await ask("GetItem", { Key: key("3"), ConsistentRead: true })).toEqual({ status: 200 });
});

test("a lost reply is of a write that was done", async () => {
  const { ask } = open({ lostReplies: 1 });
  await expect(ask("PutItem", item("lost", 5))).rejects.toThrow(ReplyLost);
  expect(await ask("GetItem", { Key: key("lost"), ConsistentRead: true })).toMatchObject(item("lost", 5));
});

test("reads, writes and transactions take the time that is asked for", async () => {
  const { ask } = open({ latency: { read: 40, write: 80, transaction: 120 } });
  for (const [operation, input, atLeast] of [
    ["GetItem", { Key: key("1") }, 39],
    ["PutItem", item("1", 1), 79],
    ["TransactWriteItems", writing("1"), 119],
  ] as const) {
    const begin = performance.now();
    await ask(operation, input);
    expect(performance.now() - begin).toBeGreaterThanOrEqual(atLeast);
  }
});

test("an index shows what the table held a while ago, and is queried as any other", async () => {
  const { ask } = open({ indexLag: 2_000 });
  const write = (sk: string, dueAt?: string) =>
    ask("PutItem", {
      Item: { ...key(sk), ...(dueAt && { dueShard: { S: "SCAN#0" }, dueAt: { S: dueAt } }) },
    });
  const due = async () => {
    const { Items } = await ask("Query", {
      IndexName: dueIndex.name,
      KeyConditionExpression: "#shard = :shard AND #at BETWEEN :from AND :to",
      ExpressionAttributeNames: { "#shard": dueIndex.partition, "#at": dueIndex.sort },
      ExpressionAttributeValues: { ":shard": { S: "SCAN#0" }, ":from": { S: "2020" }, ":to": { S: "2026" } },
    });
    return Items.map(({ sk, dueAt }: Record<string, { S: string }>) => `${sk?.S} ${dueAt?.S}`);
  };
  await write("1", "2025");
  expect(await due()).toEqual(["1 2025"]);
  await write("2", "2024");
  await write("3", "2027");
  await write("1");
  expect(await due()).toEqual(["1 2025"]);
  await expect.poll(due).toEqual(["2 2024"]);
});
