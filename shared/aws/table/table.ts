/**
 * The single table: reads, conditional writes and transactions. Import it as
 * `import * as table from …/table.ts`. Reads are strongly consistent unless a caller says otherwise. Sets are
 * JavaScript Sets. Every read and write throws `NewerVersion` (contract/version.ts) at a row in the form of a
 * later release.
 */
import { randomUUID } from "node:crypto";
import {
  ConditionalCheckFailedException,
  GetItemCommand,
  ScanCommand,
  type ScanCommandOutput,
  TransactGetItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { Refusal } from "../../contract/errors.ts";
import { versionAttribute, withVersion } from "../../contract/version.ts";
import { documents, readable, tableName, type WireRow, wire } from "./clients.ts";
import {
  type Change,
  type Condition,
  changeFields,
  conditionFields,
  type Item,
  type Write,
} from "./condition.ts";
import type { Key } from "./keys.ts";
import { patiently, type Sending } from "./patience.ts";
import { type BatchOptions, type QueryInput, queryReplies, readBatches } from "./read.ts";
import { type FailedWrite, failedWrites, rowInError, transactItems } from "./transaction.ts";

/** DynamoDB's quota for one transaction. */
export const maxTransactionWrites = 100;

export type { WireRow } from "./clients.ts";
export type { QueryInput } from "./read.ts";

export const fromWire = <T = Item>(row: WireRow): T => unmarshall(row) as T;

const wireKey = ({ pk, sk }: Key): WireRow => ({ pk: { S: pk }, sk: { S: sk } });

const identity = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

/** The row with this key, or undefined. */
export const get = async <T = Item>(
  key: Key,
  options: { consistent?: boolean } = {},
): Promise<T | undefined> => {
  const { Item } = await patiently((sending) =>
    wire().send(
      new GetItemCommand({
        TableName: tableName(),
        Key: wireKey(key),
        ConsistentRead: options.consistent ?? true,
      }),
      sending,
    ),
  );
  return Item && fromWire<T>(readable(Item));
};

/** The rows with these keys, in the order of the keys, `undefined` where there is none. Keys may repeat. */
export const getMany = async <T = Item>(
  keys: readonly Key[],
  options: { consistent?: boolean } = {},
): Promise<(T | undefined)[]> => {
  const rows = (await getManyWire(keys, options)).map((row) => fromWire<T & Key>(row));
  const byIdentity = new Map(rows.map((row) => [identity(row), row]));
  return keys.map((key) => byIdentity.get(identity(key)));
};

/** As `getMany`, but all rows as they were at the same moment, for twice the read units. The keys must differ. */
export const getTogether = async <T = Item>(keys: readonly Key[]): Promise<(T | undefined)[]> => {
  const TransactItems = keys.map((key) => ({ Get: { TableName: tableName(), Key: wireKey(key) } }));
  const { Responses = [] } = await patiently((sending) =>
    wire().send(new TransactGetItemsCommand({ TransactItems }), sending),
  );
  return Responses.map(({ Item }) => Item && fromWire<T>(readable(Item)));
};

/**
 * The rows with these keys in any order, with their values as on the wire. `project` names the attributes to
 * return instead of whole rows.
 */
export const getManyWire = async (keys: readonly Key[], options: BatchOptions = {}): Promise<WireRow[]> => {
  const wanted = new Map(keys.map((key) => [identity(key), wireKey(key)]));
  return readBatches([...wanted.values()], options);
};

/** All rows of a query, up to its `limit`. */
export const query = async <T = Item>(input: QueryInput): Promise<T[]> =>
  (await queryWire(input)).map((row) => fromWire<T>(row));

/** All rows of a query, with their values as on the wire: quicker for thousands of rows. */
export const queryWire = async (input: QueryInput): Promise<WireRow[]> => {
  const rows: WireRow[] = [];
  for await (const { Items = [] } of queryReplies(input)) rows.push(...Items);
  return rows;
};

/** The rows of a query, one page of at most 1 MB at a time. Pages may be empty. */
export async function* queryPages<T = Item>(input: QueryInput): AsyncGenerator<T[], void, undefined> {
  for await (const { Items = [] } of queryReplies(input)) yield Items.map((row) => fromWire<T>(row));
}

/**
 * Every row of the table, in no order, one page of at most 1 MB at a time. Only operators ask for this, never
 * a request. A row that is written meanwhile may be missed. One read unit for each 4 KB.
 */
export async function* scanPages(): AsyncGenerator<(Key & Item)[], void, undefined> {
  let start: ScanCommandOutput["LastEvaluatedKey"];
  do {
    const command = new ScanCommand({
      TableName: tableName(),
      ConsistentRead: true,
      ExclusiveStartKey: start,
    });
    const reply = await patiently((sending) => wire().send(command, sending));
    yield (reply.Items ?? []).map((row) => fromWire<Key & Item>(row));
    start = reply.LastEvaluatedKey;
  } while (start !== undefined);
}

/** How many rows a query would give. It costs the same read units, but no rows are sent. */
export const count = async (input: Omit<QueryInput, "limit" | "project" | "descending">): Promise<number> => {
  let count = 0;
  for await (const page of queryReplies({ ...input, select: "COUNT" })) count += page.Count ?? 0;
  return count;
};

/** The condition of a put, update or remove did not hold. `item`: the row as it is now, if it exists. */
export class ConditionFailed extends Error {
  declare readonly item: Item | undefined;
  constructor(item: Item | undefined) {
    super("The condition of a write did not hold");
    this.name = "ConditionFailed";
    Object.defineProperty(this, "item", hidden(item));
  }
}

/** Conditions of a transaction did not hold, and nothing was written. `failed` names the writes. */
export class TransactionRefused extends Error {
  declare readonly failed: FailedWrite[];
  constructor(failed: FailedWrite[]) {
    super(`Conditions of a transaction did not hold: writes ${failed.map((each) => each.index).join(", ")}`);
    this.name = "TransactionRefused";
    Object.defineProperty(this, "failed", hidden(failed));
  }
}

/** Rows hold addresses, urls and secrets, and loggers write down every enumerable property of an error. */
const hidden = (value: unknown): PropertyDescriptor => ({ value, enumerable: false });

/**
 * Writes the whole row. Throws `ConditionFailed`.
 *
 * A conditional `put`, `update` or `remove` whose reply gets lost is sent again. `ConditionFailed` can then
 * mean that the first try wrote. Compare its `item`, or use `transact`, which recognizes its own tries.
 */
export const put = async (item: Key & Item, condition?: Condition): Promise<void> => {
  await writeOne((sending) =>
    documents().send(
      new PutCommand({
        TableName: tableName(),
        Item: withVersion(item),
        ...conditionFields(condition),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
      sending,
    ),
  );
};

/** Changes one row, or creates it when there is none. Returns the changed row. Throws `ConditionFailed`. */
export const update = async <T = Item>(key: Key, change: Change): Promise<T> => {
  const reply = await writeOne((sending) =>
    documents().send(
      new UpdateCommand({
        TableName: tableName(),
        Key: { pk: key.pk, sk: key.sk },
        ...changeFields(change),
        ReturnValues: "ALL_NEW",
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
      sending,
    ),
  );
  const { [versionAttribute]: _, ...row } = reply.Attributes ?? {};
  return row as T;
};

/**
 * Deletes one row. It is no error when there is none, unless the condition demands one. Throws
 * `ConditionFailed`.
 */
export const remove = async (key: Key, condition?: Condition): Promise<void> => {
  await writeOne((sending) =>
    documents().send(
      new DeleteCommand({
        TableName: tableName(),
        Key: { pk: key.pk, sk: key.sk },
        ...conditionFields(condition),
        ReturnValuesOnConditionCheckFailure: "ALL_OLD",
      }),
      sending,
    ),
  );
};

const writeOne = async <R>(send: (sending: Sending) => Promise<R>): Promise<R> => {
  try {
    return await patiently(send);
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) throw new ConditionFailed(rowInError(error.Item));
    throw error;
  }
};

/**
 * Does all writes or none: at most `maxTransactionWrites`, no two on one row. Without writes nothing is sent.
 *
 * When conditions fail, throws the `Refusal` that the first failed write with a `refusal` names, or else
 * `TransactionRefused`. A failed condition is final even when other writes met a conflict: conditions are
 * judged against committed rows. Conflicts and throttling alone are tried again (patience.ts).
 *
 * All tries carry one token, so that DynamoDB recognizes a try whose reply got lost and does not repeat it.
 * After the `until` of a write no further try begins, and it is unknown whether the last one wrote.
 */
export const transact = async (writes: readonly Write[]): Promise<void> => {
  if (writes.length === 0) return;
  if (writes.length > maxTransactionWrites) {
    throw new Error(
      `A transaction of ${writes.length} writes: DynamoDB takes ${maxTransactionWrites}, use several`,
    );
  }
  const TransactItems = transactItems(writes);
  const ClientRequestToken = randomUUID();
  const until = writes.flatMap((write) => write.until ?? []).sort()[0];
  const command = () => {
    if (until !== undefined && until < new Date().toISOString())
      throw new Error("The transaction was begun too long ago: begin it anew");
    return new TransactWriteCommand({ TransactItems, ClientRequestToken });
  };
  try {
    await patiently((sending) => documents().send(command(), sending), until);
  } catch (error) {
    const failed = failedWrites(error);
    if (failed.length > 0) throw refusalOf(writes, failed) ?? new TransactionRefused(failed);
    throw error;
  }
};

const refusalOf = (writes: readonly Write[], failed: readonly FailedWrite[]): Refusal | undefined => {
  const name = failed.map(({ index }) => writes[index]?.refusal).find((each) => each !== undefined);
  return name && new Refusal(name);
};

/** A conditional write that was done, or the writes whose conditions did not hold. */
export type Attempt<T> = { written: true; value: T } | { written: false; failed: FailedWrite[] };

/**
 * Awaits a conditional write or transaction and returns failed conditions instead of throwing them:
 * `const { written } = await attempt(table.put(row, absent))`. Throws other errors, refusals included.
 */
export const attempt = async <T>(write: Promise<T>): Promise<Attempt<T>> => {
  try {
    return { written: true, value: await write };
  } catch (error) {
    if (error instanceof ConditionFailed) return { written: false, failed: [{ index: 0, item: error.item }] };
    if (error instanceof TransactionRefused) return { written: false, failed: error.failed };
    throw error;
  }
};
