import type { Readable } from "node:stream";
import { type ConsumedCapacity, CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll } from "vitest";
import {
  type BehaviourSettings,
  openBehaviour,
  type Send,
  undisturbed,
} from "../../../local/dynamodb/behaviour.ts";
import { startEngine as startInMemory } from "../../../local/dynamodb/engine.ts";
import { wire } from "../../../shared/aws/table/clients.ts";
import { breachIndex, dueIndex } from "../../../shared/aws/table/keys.ts";
import { waitLongForReplies } from "../../environment.ts";
import { type Command, intercept } from "./intercept.ts";

export type Engine = { url: string; stop: () => Promise<void> };

/** Beside conflicts, which there always are. Replies get lost where a test intercepts them (intercept.ts). */
export type Disturbance = Partial<Pick<BehaviourSettings, "latency" | "indexLag">>;

/**
 * Starts a DynamoDB engine in memory with an empty table of this service's shape. Points the SDK's
 * environment variables and TABLE_NAME at it. When AWS_ENDPOINT_URL_DYNAMODB is set, that engine is used
 * instead, for example DynamoDB Local. To the product's client transactions conflict as on AWS.
 */
export const startEngine = async (disturbance: Disturbance = {}): Promise<Engine> => {
  const tableName = `test-${process.pid}-${Date.now()}`;
  const given = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const engine = given === undefined ? await startInMemory(undefined) : undefined;
  const url = given ?? (engine?.endpoint as string);
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_DYNAMODB: url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    TABLE_NAME: tableName,
  });
  waitLongForReplies();
  await createTable(tableName);
  // The engine checks no signature, and making them takes a fifth of a test's time.
  Object.assign(wire().config, { signer: async () => ({ sign }) });
  putBehaviourBefore(disturbance);
  return {
    url,
    stop: async () => {
      if (engine === undefined) return;
      delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
      await engine.close();
    },
  };
};

const sign = async <R extends { headers: Record<string, string> }>(request: R): Promise<R> => {
  request.headers.authorization =
    "AWS4-HMAC-SHA256 Credential=local/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";
  request.headers["x-amz-date"] = "20300101T000000Z";
  return request;
};

type Sent = { request: { headers: Record<string, string>; body: Uint8Array } };
type Received = { response: { statusCode: number; headers: object; body: Readable | Buffer } };

/**
 * A part of the error with which DynamoDB Local gives up simultaneous writes of one row on a busy machine. It
 * adds that the request will succeed in DynamoDB itself, so it is sent again.
 */
const lockTimeout = "waiting for a lock";

/** Within the client, around each try of a request: a server of its own would take a fifth of a test's time. */
const putBehaviourBefore = (disturbance: Disturbance): void => {
  const behave = openBehaviour({ ...undisturbed, ...disturbance }, () => ["pk", "sk"]);
  const middleware =
    (next: (sent: Sent) => Promise<Received>) =>
    async ({ request, ...sent }: Sent): Promise<Received> => {
      const [service, own = ""] = String(request.headers["x-amz-target"]).split(".");
      const send: Send = async (body, operation = own) => {
        const changed = { "x-amz-target": `${service}.${operation}`, "content-length": String(body.length) };
        const headers = { ...request.headers, ...changed };
        for (;;) {
          const { response } = await next({ ...sent, request: { ...request, headers, body } });
          const reply = Buffer.concat(await (response.body as Readable).toArray());
          if (response.statusCode !== 200 && reply.includes(lockTimeout)) continue;
          return { status: response.statusCode, headers: {}, body: reply };
        }
      };
      const bytes = Buffer.copyBytesFrom(request.body);
      const { status, headers, body } = await behave(own, JSON.parse(bytes.toString()), bytes, send);
      return { response: { statusCode: status, headers, body } };
    };
  wire().middlewareStack.add(middleware as never, { step: "deserialize", priority: "low" });
};

/** Starts an engine, as `startEngine` does, before the tests of a file, and stops it after them. */
export const useEngine = (disturbance?: Disturbance): void => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine(disturbance);
  });
  afterAll(() => engine.stop());
};

const createTable = async (tableName: string): Promise<void> => {
  const client = new DynamoDBClient({ maxAttempts: 1 });
  const command = new CreateTableCommand({
    TableName: tableName,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [
      ...["pk", "sk", dueIndex.partition, dueIndex.sort, breachIndex.partition].map(
        (AttributeName) => ({ AttributeName, AttributeType: "S" }) as const,
      ),
      { AttributeName: breachIndex.sort, AttributeType: "N" },
    ],
    KeySchema: [
      { AttributeName: "pk", KeyType: "HASH" },
      { AttributeName: "sk", KeyType: "RANGE" },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: dueIndex.name,
        KeySchema: [
          { AttributeName: dueIndex.partition, KeyType: "HASH" },
          { AttributeName: dueIndex.sort, KeyType: "RANGE" },
        ],
        Projection: { ProjectionType: "KEYS_ONLY" },
      },
      {
        IndexName: breachIndex.name,
        KeySchema: [
          { AttributeName: breachIndex.partition, KeyType: "HASH" },
          { AttributeName: breachIndex.sort, KeyType: "RANGE" },
        ],
        Projection: { ProjectionType: "INCLUDE", NonKeyAttributes: ["group"] },
      },
    ],
  });
  await client.send(command);
  client.destroy();
};

let stopRecording = (): void => {};

export type Consumed = { readUnits: number; writeUnits: number; calls: number };

/**
 * Sums the capacity that this process consumes from now on. `take` returns the sum and starts again from 0.
 */
export const recordCapacity = (): { take: () => Consumed } => {
  let consumed: Consumed = { readUnits: 0, writeUnits: 0, calls: 0 };
  stopRecording();
  stopRecording = intercept<Command>(
    "initialize",
    (next, { commandName = "" }) =>
      async ({ input, ...sent }) => {
        const reply = await next({ ...sent, input: { ...input, ReturnConsumedCapacity: "TOTAL" } });
        const given = (reply.output as { ConsumedCapacity?: ConsumedCapacity | ConsumedCapacity[] })
          .ConsumedCapacity;
        const writes = /^(Put|Update|Delete|TransactWrite)/.test(commandName);
        consumed.calls++;
        for (const each of [given ?? []].flat()) {
          const units = each.CapacityUnits ?? 0;
          if (writes) consumed.writeUnits += units;
          else consumed.readUnits += units;
        }
        return reply;
      },
  );
  return {
    take: () => {
      const taken = consumed;
      consumed = { readUnits: 0, writeUnits: 0, calls: 0 };
      return taken;
    },
  };
};
