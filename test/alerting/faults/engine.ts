/**
 * Sends the table's commands to the engine without the SDK, whose work takes most of a simulation's time.
 * Requests, engine and replies are the same, and errors are the SDK's. A row is read from memory if it has
 * not been written since the last read, since every write of a simulation passes this module. Rows of a batch
 * are read one by one.
 */
import {
  BatchGetItemCommand,
  type CancellationReason,
  ConditionalCheckFailedException,
  GetItemCommand,
  QueryCommand,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { Pool } from "undici";

type Fields = Record<string, unknown>;
type Reply = Fields;
type Wire = Parameters<typeof unmarshall>[0];
type Command = { input: object; constructor: { name: string } };

export type Wires = { send: (command: Command) => Promise<unknown>; close: () => Promise<void> };

export const connectTable = (url: string): Wires => {
  const pool = new Pool(url, { connections: 16 });
  const known = new Map<string, Reply>();
  const versions = new Map<string, number>();

  const request = async (operation: string, input: Fields): Promise<Reply> => {
    const response = await pool.request({
      method: "POST",
      path: "/",
      headers: { ...headers, "x-amz-target": `DynamoDB_20120810.${operation}` },
      body: JSON.stringify(input),
    });
    const reply = (await response.body.json()) as Fields;
    if (response.statusCode !== 200) throw errorOf(reply);
    return reply;
  };

  const get = async (input: Fields): Promise<Reply> => {
    const key = nameOf(input.Key);
    const before = known.get(key);
    if (before !== undefined) return before;
    const version = versions.get(key);
    const reply = await request("GetItem", input);
    if (versions.get(key) === version) known.set(key, reply);
    return reply;
  };

  const getBatch = async (input: Fields): Promise<Reply> => {
    const tables = Object.entries(input.RequestItems as Record<string, { Keys: Wire[] }>);
    const responses = tables.map(async ([TableName, { Keys }]) => {
      const replies = await Promise.all(Keys.map((Key) => get({ TableName, Key, ConsistentRead: true })));
      return [TableName, replies.flatMap(({ Item }) => Item ?? [])];
    });
    return { Responses: Object.fromEntries(await Promise.all(responses)) };
  };

  const write = async (operation: string, input: Fields): Promise<Reply> => {
    const items = (input.TransactItems as Record<string, Fields>[] | undefined) ?? [{ only: input }];
    const written = items.flatMap((item) => Object.values(item).map((each) => nameOf(each.Key ?? each.Item)));
    const forget = (): void => {
      for (const key of written) {
        known.delete(key);
        versions.set(key, (versions.get(key) ?? 0) + 1);
      }
    };
    forget();
    const [key = ""] = written;
    const version = versions.get(key);
    let isAlone = false;
    const reply = await request(operation, input).finally(() => {
      isAlone = versions.get(key) === version;
      forget();
    });
    if (isAlone && input.ReturnValues === "ALL_NEW") known.set(key, { Item: reply.Attributes });
    return reply;
  };

  return {
    send: async (command) => {
      const input = command.input as Fields;
      if (command instanceof GetItemCommand) return get(input);
      if (command instanceof BatchGetItemCommand) return getBatch(input);
      if (command instanceof QueryCommand) return request("Query", input);
      const operation = writes[command.constructor.name];
      if (operation === undefined) throw new Error(`No operation for ${command.constructor.name}`);
      return fromWire(await write(operation, toWire(input)));
    },
    close: () => pool.close(),
  };
};

const nameOf = (key: unknown): string => {
  const { pk, sk } = key as Record<"pk" | "sk", { S: string }>;
  return `${pk.S}\n${sk.S}`;
};

/** Operations by command of the document client. */
const writes: Record<string, string> = {
  PutCommand: "PutItem",
  UpdateCommand: "UpdateItem",
  DeleteCommand: "DeleteItem",
  TransactWriteCommand: "TransactWriteItems",
};

/** The engine demands a signature but does not check it. */
const headers = {
  "content-type": "application/x-amz-json-1.0",
  "x-amz-date": "20300101T000000Z",
  authorization:
    "AWS4-HMAC-SHA256 Credential=local/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0",
};

const rowFields = new Set(["Key", "Item", "Attributes", "ExpressionAttributeValues"]);

const toWire = (input: Fields): Fields =>
  Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      if (name === "TransactItems") {
        return [name, (value as Record<string, Fields>[]).map((item) => mapValues(item, toWire))];
      }
      if (!rowFields.has(name) || value === undefined) return [name, value];
      return [name, marshall(value as Fields, { removeUndefinedValues: true })];
    }),
  );

const fromWire = (reply: Fields): Fields =>
  Object.fromEntries(
    Object.entries(reply).map(([name, value]) => [
      name,
      rowFields.has(name) ? unmarshall(value as Wire) : value,
    ]),
  );

const mapValues = <T, R>(object: Record<string, T>, map: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));

const errorOf = (reply: Fields): Error => {
  const name = String(reply.__type).split("#").at(-1);
  const message = String(reply.message ?? reply.Message);
  const metadata = { message, $metadata: {} };
  if (name === "ConditionalCheckFailedException") {
    return new ConditionalCheckFailedException({ ...metadata, Item: reply.Item as never });
  }
  if (name === "TransactionCanceledException") {
    const CancellationReasons = reply.CancellationReasons as CancellationReason[];
    return new TransactionCanceledException({ ...metadata, CancellationReasons });
  }
  return Object.assign(new Error(message), { name });
};
