/** Reads of many rows: batches of keys, and queries of the table and its index. */
import {
  BatchGetItemCommand,
  QueryCommand,
  type QueryCommandInput,
  type QueryCommandOutput,
} from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { versionAttribute } from "../../contract/version.ts";
import { chunk, maxBatchKeys } from "./chunk.ts";
import { readable, tableName, type WireRow, wire } from "./clients.ts";
import { type Condition, Placeholders } from "./condition.ts";
import { patiently, type Sending, Unprocessed } from "./patience.ts";

/** DynamoDB takes a number of 32 bits. */
const maxLimit = 2 ** 31 - 1;

export type BatchOptions = {
  /** Default true. */
  consistent?: boolean;
  /** Attribute paths to return instead of whole rows. */
  project?: readonly string[] | undefined;
};

/** The rows with these keys, which must differ, in any order. All batches are read at the same time. */
export const readBatches = async (
  keys: readonly WireRow[],
  { consistent = true, project }: BatchOptions,
): Promise<WireRow[]> => {
  const placeholders = new Placeholders();
  const projection = projectionOf(project, placeholders);
  const fields = {
    ConsistentRead: consistent,
    ProjectionExpression: projection,
    ...placeholders.fields(),
  };
  const rows: WireRow[] = [];
  await Promise.all(
    [...chunk(keys, maxBatchKeys)].map(async (batch) => {
      let left = batch;
      const readSome = async (sending: Sending): Promise<void> => {
        const reply = await wire().send(
          new BatchGetItemCommand({ RequestItems: { [tableName()]: { Keys: left, ...fields } } }),
          sending,
        );
        for (const row of reply.Responses?.[tableName()] ?? []) rows.push(readable(row));
        left = reply.UnprocessedKeys?.[tableName()]?.Keys ?? [];
        if (left.length > 0) throw new Unprocessed("DynamoDB left keys of a batch unprocessed");
      };
      await patiently(readSome);
    }),
  );
  return rows;
};

/** What is read of a row is read with its version. */
const projectionOf = (project: readonly string[] | undefined, placeholders: Placeholders) =>
  project && [...project, versionAttribute].map((path) => placeholders.path(path)).join(", ");

export type QueryInput = {
  pk: string;
  /** Selects by sort key: either a prefix, or bounds (both inclusive). */
  prefix?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  descending?: boolean | undefined;
  /** Maximum number of rows in all, not per page. */
  limit?: number | undefined;
  /**
   * Reads this index, eventually consistent; `pk` and the bounds are then values of its `partition` and
   * `sort` attributes.
   */
  index?: { name: string; partition: string; sort: string } | undefined;
  /** Default true, except for an index. */
  consistent?: boolean | undefined;
  /** Attribute paths to return instead of whole rows. Not for an index, whose entries are small and have no version. */
  project?: readonly string[] | undefined;
  /**
   * Sends only rows for which this holds; the others cost as many read units. Takes no key attributes, and
   * cannot be combined with `limit`.
   */
  where?: Condition | undefined;
};

/**
 * The replies to a query, one for each page of at most 1 MB, up to `limit` rows in all. `select: "COUNT"`
 * sends no rows.
 */
export async function* queryReplies(
  input: QueryInput & { select?: "COUNT" },
): AsyncGenerator<QueryCommandOutput, void, undefined> {
  const { index, limit, from, to, consistent = index === undefined } = input;
  if (input.where !== undefined && limit !== undefined)
    throw new Error("A query takes `where` or `limit`, not both");
  const expressions = expressionsOf(input);
  if (from !== undefined && to !== undefined && from > to) return; // DynamoDB refuses an empty range
  let left = limit ?? Number.POSITIVE_INFINITY;
  let start: QueryCommandInput["ExclusiveStartKey"];
  while (left > 0) {
    const command = new QueryCommand({
      TableName: tableName(),
      IndexName: index?.name,
      ...expressions,
      Select: input.select,
      ConsistentRead: consistent,
      ScanIndexForward: !(input.descending ?? false),
      Limit: Number.isFinite(left) ? Math.min(left, maxLimit) : undefined,
      ExclusiveStartKey: start,
    });
    const reply = await patiently((sending) => wire().send(command, sending));
    left -= reply.Count ?? 0;
    reply.Items = reply.Items?.map(readable);
    yield reply;
    start = reply.LastEvaluatedKey;
    if (start === undefined) return;
  }
}

const expressionsOf = (input: QueryInput): Partial<QueryCommandInput> => {
  const { pk, index, where, project } = input;
  const placeholders = new Placeholders();
  const conditions = [
    `${placeholders.path(index?.partition ?? "pk")} = ${placeholders.value(pk)}`,
    ...sortCondition(input, placeholders),
  ];
  if (index !== undefined && project !== undefined)
    throw new Error("A query of an index gives whole entries");
  const projection = projectionOf(project, placeholders);
  const filter = where && placeholders.expression(where);
  const { ExpressionAttributeValues, ...names } = placeholders.fields();
  return {
    KeyConditionExpression: conditions.join(" AND "),
    ProjectionExpression: projection,
    FilterExpression: filter,
    ...names,
    ExpressionAttributeValues: ExpressionAttributeValues && marshall(ExpressionAttributeValues),
  };
};

const sortCondition = ({ prefix, from, to, index }: QueryInput, placeholders: Placeholders): string[] => {
  const name = (): string => placeholders.path(index?.sort ?? "sk");
  if (prefix !== undefined) {
    if (from !== undefined || to !== undefined) throw new Error("A query takes a prefix or bounds, not both");
    return [`begins_with(${name()}, ${placeholders.value(prefix)})`];
  }
  if (from !== undefined && to !== undefined) {
    return [`${name()} BETWEEN ${placeholders.value(from)} AND ${placeholders.value(to)}`];
  }
  if (from !== undefined) return [`${name()} >= ${placeholders.value(from)}`];
  if (to !== undefined) return [`${name()} <= ${placeholders.value(to)}`];
  return [];
};
