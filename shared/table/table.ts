/**
 * The single table: a thin layer over DynamoDB's client. Import it as `import * as table from …/table.ts`.
 * The table's name is the environment variable TABLE_NAME; region, credentials and endpoint are the SDK's standard
 * ones. Reads are strongly consistent unless a caller says otherwise. Sets are JavaScript Sets.
 */
import { randomUUID } from "node:crypto";
import {
  type AttributeValue,
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
  TransactionCanceledException,
} from "@aws-sdk/client-dynamodb";
import {
  DeleteCommand,
  DynamoDBDocumentClient,
  PutCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import {
  type Change,
  type Condition,
  changeFields,
  conditionFields,
  type Item,
  Placeholders,
  type Write,
} from "./condition.ts";
import type { Key } from "./keys.ts";
import { parts } from "./parts.ts";
import { Sha256 } from "./sha256.ts";

/** The condition of a put, update or remove did not hold. `item` is the row as it is, undefined when there is none. */
export class ConditionFailed extends Error {
  declare readonly item: Item | undefined;
  constructor(item: Item | undefined) {
    super("The condition of a write did not hold");
    this.name = "ConditionFailed";
    Object.defineProperty(this, "item", hidden(item));
  }
}

/** Conditions of a transaction did not hold: `index` in the list of writes, and the row as it is. Nothing was written. */
export class TransactionRefused extends Error {
  declare readonly failed: { index: number; item: Item | undefined }[];
  constructor(failed: { index: number; item: Item | undefined }[]) {
    super(`Conditions of a transaction did not hold: writes ${failed.map((each) => each.index).join(", ")}`);
    this.name = "TransactionRefused";
    Object.defineProperty(this, "failed", hidden(failed));
  }
  /** Whether the write at this index is one of those whose condition failed. */
  refused(index: number): boolean {
    return this.failed.some((each) => each.index === index);
  }
}

/** Not enumerable: loggers write down what is, and rows hold addresses, urls and secrets. */
const hidden = (value: unknown): PropertyDescriptor => ({ value, enumerable: false });

export const maxTransactionWrites = 100;
/** A page of a list may have to read a block for each of its members, all at once (counted-list.ts). */
const maxSockets = 100;
const maxBatchKeys = 100;
const maxTries = 10;
/** Tries of each request that the SDK makes; `maxTries` are those that are ours on top. */
const maxAttempts = 4;

const tableName = (): string => {
  const name = process.env.TABLE_NAME;
  if (name === undefined || name === "") throw new Error("TABLE_NAME is not set");
  return name;
};

let reader: DynamoDBClient | undefined;
let writer: DynamoDBDocumentClient | undefined;

/**
 * Made when it is first needed, for reads: takes and gives values as they are on the wire, since the document client's steps would
 * be a tenth of what a list computes. What every request goes through is put together once for each command.
 */
export const wire = (): DynamoDBClient => {
  reader ??= slim(
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

/** Made when it is first needed, for writes, on the connections of the other: the document client takes no cached steps. */
export const documents = (): DynamoDBDocumentClient => {
  writer ??= DynamoDBDocumentClient.from(
    slim(new DynamoDBClient({ maxAttempts, sha256: Sha256, requestHandler: wire().config.requestHandler })),
    { marshallOptions: { removeUndefinedValues: true } },
  );
  return writer;
};

const slim = (client: DynamoDBClient): DynamoDBClient => {
  // It goes through every input and output for a logger, also when there is none: a fifth of a list's time.
  client.middlewareStack.remove("loggerMiddleware");
  // It works out for every call which features of the SDK it uses, for AWS's statistics: a seventh of a call's time.
  client.middlewareStack.remove("getUserAgentMiddleware");
  return client;
};

/** A row with its values as they are on the wire: `{ N: "12" }`, `{ S: "a" }`. */
export type WireRow = Record<string, AttributeValue>;

export const fromWire = <T = Item>(row: WireRow): T => unmarshall(row) as T;

const wireKey = ({ pk, sk }: Key): WireRow => ({ pk: { S: pk }, sk: { S: sk } });

/** One row. */
export const get = async <T = Item>(
  key: Key,
  options: { consistent?: boolean } = {},
): Promise<T | undefined> => {
  const { Item } = await wire().send(
    new GetItemCommand({
      TableName: tableName(),
      Key: wireKey(key),
      ConsistentRead: options.consistent ?? true,
    }),
  );
  return Item && fromWire<T>(Item);
};

/** Rows in the order of the keys, `undefined` where there is none. Keys may repeat. */
export const getMany = async <T = Item>(
  keys: readonly Key[],
  options: { consistent?: boolean } = {},
): Promise<(T | undefined)[]> => {
  const rows = (await getManyWire(keys, options)).map((row) => fromWire<T & Key>(row));
  const found = new Map(rows.map((row) => [identity(row), row]));
  return keys.map((key) => found.get(identity(key)));
};

/** The same in no order, without turning every value into JavaScript's. `project`: attributes to return instead of whole rows. */
export const getManyWire = async (
  keys: readonly Key[],
  options: { consistent?: boolean; project?: readonly string[] | undefined } = {},
): Promise<WireRow[]> => {
  const wanted = new Map(keys.map((key) => [identity(key), wireKey(key)]));
  const placeholders = new Placeholders();
  const projection = options.project?.map((path) => placeholders.path(path)).join(", ");
  const fields = {
    ConsistentRead: options.consistent ?? true,
    ProjectionExpression: projection,
    ...placeholders.fields(),
  };
  const rows: WireRow[] = [];
  await Promise.all(
    [...parts([...wanted.values()], maxBatchKeys)].map(async (batch) => {
      let left = batch;
      for (let attempt = 0; left.length > 0; attempt++) {
        if (attempt >= maxTries) throw new Error("DynamoDB kept leaving keys of a batch unprocessed");
        if (attempt > 0) await backOff(attempt);
        const reply = await wire().send(
          new BatchGetItemCommand({ RequestItems: { [tableName()]: { Keys: left, ...fields } } }),
        );
        rows.push(...(reply.Responses?.[tableName()] ?? []));
        left = reply.UnprocessedKeys?.[tableName()]?.Keys ?? [];
      }
    }),
  );
  return rows;
};

export type QueryInput = {
  pk: string;
  /** Of the sort key: either a prefix, or bounds (both inclusive). */
  prefix?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  descending?: boolean | undefined;
  /** Rows in all, not per page. */
  limit?: number | undefined;
  /** `pk` and the bounds are then those of the index, which can only be read eventually consistent. */
  index?: { name: string; partition: string; sort: string } | undefined;
  /** Attribute paths to return instead of whole rows. */
  project?: readonly string[] | undefined;
  /** Only rows for which this holds are sent; the others cost as much. Not on key attributes, and not with a `limit`. */
  where?: Condition | undefined;
};

/** All rows of a query, every page of it (up to `limit` rows). */
export const query = async <T = Item>(input: QueryInput): Promise<T[]> =>
  (await queryWire(input)).map((row) => fromWire<T>(row));

/** The same without turning every value into JavaScript's: for rows by the thousand of which little is wanted. */
export const queryWire = async (input: QueryInput): Promise<WireRow[]> => {
  const rows: WireRow[] = [];
  for await (const { Items = [] } of replies(input)) rows.push(...Items);
  return rows;
};

/** The rows of a query, one page (at most 1 MB) at a time. Pages may be empty. */
export async function* queryPages<T = Item>(input: QueryInput): AsyncGenerator<T[], void, undefined> {
  for await (const { Items = [] } of replies(input)) yield Items.map((row) => fromWire<T>(row));
}

/** How many rows a query would give. Costs the same read units, but sends none. */
export const count = async (input: Omit<QueryInput, "limit" | "project" | "descending">): Promise<number> => {
  let count = 0;
  for await (const page of replies({ ...input, select: "COUNT" })) count += page.Count ?? 0;
  return count;
};

async function* replies(
  input: QueryInput & { select?: "COUNT" },
): AsyncGenerator<QueryCommandOutput, void, undefined> {
  const { pk, prefix, from, to, index, limit, where } = input;
  if (where !== undefined && limit !== undefined)
    throw new Error("A query takes `where` or a limit, not both");
  const placeholders = new Placeholders();
  const sort = index?.sort ?? "sk";
  const conditions = [`${placeholders.path(index?.partition ?? "pk")} = ${placeholders.value(pk)}`];
  if (prefix !== undefined) {
    if (from !== undefined || to !== undefined) throw new Error("A query takes a prefix or bounds, not both");
    conditions.push(`begins_with(${placeholders.path(sort)}, ${placeholders.value(prefix)})`);
  } else if (from !== undefined && to !== undefined) {
    if (from > to) return; // DynamoDB refuses an empty range
    const name = placeholders.path(sort);
    conditions.push(`${name} BETWEEN ${placeholders.value(from)} AND ${placeholders.value(to)}`);
  } else if (from !== undefined) {
    conditions.push(`${placeholders.path(sort)} >= ${placeholders.value(from)}`);
  } else if (to !== undefined) {
    conditions.push(`${placeholders.path(sort)} <= ${placeholders.value(to)}`);
  }
  const projection = input.project?.map((path) => placeholders.path(path)).join(", ");
  const filter = where && placeholders.expression(where);
  const { ExpressionAttributeValues, ...names } = placeholders.fields();
  let left = limit ?? Number.POSITIVE_INFINITY;
  let start: QueryCommandInput["ExclusiveStartKey"];
  while (left > 0) {
    const reply = await wire().send(
      new QueryCommand({
        TableName: tableName(),
        IndexName: index?.name,
        KeyConditionExpression: conditions.join(" AND "),
        ProjectionExpression: projection,
        FilterExpression: filter,
        Select: input.select,
        ...names,
        ExpressionAttributeValues: ExpressionAttributeValues && marshall(ExpressionAttributeValues),
        ConsistentRead: index === undefined,
        ScanIndexForward: !(input.descending ?? false),
        Limit: Number.isFinite(left) ? left : undefined,
        ExclusiveStartKey: start,
      }),
    );
    left -= reply.Count ?? 0;
    yield reply;
    start = reply.LastEvaluatedKey;
    if (start === undefined) return;
  }
}

/**
 * Writes the whole row. Throws `ConditionFailed`. Of a conditional put, update or remove whose reply got lost the SDK's
 * retry can report `ConditionFailed` although the first try wrote; compare `item`, or use `transact`, which knows.
 */
export const put = async (item: Key & Item, condition?: Condition): Promise<void> => {
  await sendSingle(() =>
    documents().send(
      new PutCommand({
        TableName: tableName(),
        Item: item,
        ...conditionFields(condition),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    ),
  );
};

/** Changes one row, and makes it when it is not there and no condition forbids. The row as it is then. Throws `ConditionFailed`. */
export const update = async <T = Item>(key: Key, change: Change): Promise<T> => {
  const reply = await sendSingle(() =>
    documents().send(
      new UpdateCommand({
        TableName: tableName(),
        Key: { pk: key.pk, sk: key.sk },
        ...changeFields(change),
        ReturnValues: "ALL_NEW",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    ),
  );
  return reply.Attributes as T;
};

/** Deletes one row; no error when there is none, unless a condition says so. Throws `ConditionFailed`. */
export const remove = async (key: Key, condition?: Condition): Promise<void> => {
  await sendSingle(() =>
    documents().send(
      new DeleteCommand({
        TableName: tableName(),
        Key: { pk: key.pk, sk: key.sk },
        ...conditionFields(condition),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
    ),
  );
};

/**
 * All writes or none; at most 100, no two on one row. No writes is no call.
 *
 * Throws `TransactionRefused` when a condition failed. Conflicts with other transactions (and throttling) are tried
 * again with jitter, ten times in all, unless a condition failed too: conditions are judged against committed rows, so
 * that refusal is true whatever the other writes met. (Writes that met a conflict are then not in `failed`.) All tries
 * carry one token, so a try whose reply got lost is not repeated and not mistaken for a refusal. After `signal` there is no
 * further try, and it is unknown whether the last one wrote.
 */
export const transact = async (
  writes: readonly Write[],
  { signal }: { signal?: AbortSignal } = {},
): Promise<void> => {
  if (writes.length === 0) return;
  assertTransactable(writes);
  const TransactItems = writes.map(transactItem);
  const ClientRequestToken = randomUUID();
  for (let attempt = 1; ; attempt++) {
    try {
      await documents().send(new TransactWriteCommand({ TransactItems, ClientRequestToken }), {
        ...(signal && { abortSignal: signal }),
      });
      return;
    } catch (error) {
      const failed = failedConditions(error);
      if (failed.length > 0) throw new TransactionRefused(failed);
      if (attempt >= maxTries || !isContention(error) || signal?.aborted) throw error;
      await backOff(attempt);
    }
  }
};

const identity = (key: Key): string => `${key.pk}\n${key.sk}`;

const keyOf = (write: Write): Key => {
  if ("put" in write) return write.put;
  if ("update" in write) return write.update;
  if ("delete" in write) return write.delete;
  return write.check;
};

const assertTransactable = (writes: readonly Write[]): void => {
  if (writes.length > maxTransactionWrites) {
    throw new Error(`A transaction of ${writes.length} writes: DynamoDB takes ${maxTransactionWrites}`);
  }
  const seen = new Set<string>();
  for (const write of writes) {
    const key = identity(keyOf(write));
    if (seen.has(key)) throw new Error(`A transaction has two writes on ${key.replace("\n", " / ")}`);
    seen.add(key);
  }
};

type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

const transactItem = (write: Write): TransactItem => {
  const TableName = tableName();
  const { pk, sk } = keyOf(write);
  const Key = { pk, sk };
  const ReturnValuesOnConditionCheckFailure = "ALL_OLD";
  if ("put" in write) {
    return {
      Put: { TableName, Item: write.put, ...conditionFields(write.if), ReturnValuesOnConditionCheckFailure },
    };
  }
  if ("update" in write) {
    const { UpdateExpression, ...fields } = changeFields(write);
    if (UpdateExpression === undefined)
      throw new Error("An update in a transaction changes nothing: use check");
    return { Update: { TableName, Key, UpdateExpression, ...fields, ReturnValuesOnConditionCheckFailure } };
  }
  if ("delete" in write) {
    return { Delete: { TableName, Key, ...conditionFields(write.if), ReturnValuesOnConditionCheckFailure } };
  }
  const { ConditionExpression, ...fields } = conditionFields(write.if);
  return {
    ConditionCheck: { TableName, Key, ConditionExpression, ...fields, ReturnValuesOnConditionCheckFailure },
  };
};

/** Sends a write of one row: a transaction in progress on that row is waited out. */
const sendSingle = async <R>(send: () => Promise<R>): Promise<R> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      // The document client leaves the rows inside errors as they came over the wire.
      if (error instanceof ConditionalCheckFailedException) {
        throw new ConditionFailed(rowOf(error.Item));
      }
      if (attempt >= maxTries || !isContention(error)) throw error;
      await backOff(attempt);
    }
  }
};

const rowOf = (item: Record<string, AttributeValue> | undefined): Item | undefined =>
  item === undefined || Object.keys(item).length === 0 ? undefined : unmarshall(item);

const failedConditions = (error: unknown): { index: number; item: Item | undefined }[] => {
  if (!(error instanceof TransactionCanceledException)) return [];
  return (error.CancellationReasons ?? []).flatMap((reason, index) =>
    reason.Code === "ConditionalCheckFailed" ? [{ index, item: rowOf(reason.Item) }] : [],
  );
};

const contention = new Set([
  "TransactionConflict",
  "TransactionConflictException",
  "TransactionInProgressException",
  "ThrottlingError",
  "ThrottlingException",
  "ProvisionedThroughputExceeded",
  "ProvisionedThroughputExceededException",
  "RequestLimitExceeded",
]);

/** Whether waiting a little can help: every reason is a conflict or throttling. */
const isContention = (error: unknown): boolean => {
  if (error instanceof TransactionCanceledException) {
    const codes = (error.CancellationReasons ?? []).map((reason) => reason.Code ?? "None");
    const real = codes.filter((code) => code !== "None");
    return real.length > 0 && real.every((code) => contention.has(code));
  }
  return error instanceof Error && contention.has(error.name);
};

/** Full jitter: between 0 and 20, 40, 80 … at most 1,280 ms. */
const backOff = (attempt: number): Promise<void> => {
  const milliseconds = Math.random() * 20 * 2 ** Math.min(attempt - 1, 6);
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
};
