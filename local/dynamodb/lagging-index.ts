/**
 * Global secondary indexes that show the table as it was a while ago, as DynamoDB's do: what was written meanwhile
 * is missing, and what was deleted or changed meanwhile is still there.
 */
import type { Answer, Send } from "./behaviour.ts";
import type { Body, KeyNames, Row } from "./rows.ts";

type Value = { S?: string };
type Attributes = Record<string, Value>;
/** `names` are the attributes of the index's own keys. `entries` are by the row's id. */
type Index = { names: readonly string[]; entries: Map<string, Attributes> };

export type LaggingIndexes = {
  /** Makes a write visible in the indexes once the lag has passed. */
  noteWrite: (row: Row, send: Send) => void;
  query: (body: Body, send: Send) => Promise<Answer>;
};

export const openLaggingIndexes = (lagMilliseconds: number, keyNames: KeyNames): LaggingIndexes => {
  /** By table and index: the first query of an index loads it. */
  const indexes = new Map<string, Promise<Index>>();

  const refresh = async ({ id }: Row, send: Send): Promise<void> => {
    const [table, ...keys] = JSON.parse(id) as [string, ...Value[]];
    const names = keyNames(table);
    const Key = Object.fromEntries(names.map((name, place) => [name, keys[place]]));
    const { Item } = await ask<{ Item?: Attributes }>(send, "GetItem", {
      TableName: table,
      Key,
      ConsistentRead: true,
    });
    for (const [name, loading] of indexes) {
      if (!name.startsWith(`${table}/`)) continue;
      const { names: own, entries } = await loading;
      const isThere = Item !== undefined && own.every((each) => Item[each] !== undefined);
      if (isThere) entries.set(id, pick(Item, [...names, ...own]));
      else entries.delete(id);
    }
  };

  const load = async (
    { TableName, IndexName }: Query,
    own: readonly string[],
    send: Send,
  ): Promise<Index> => {
    const entries = new Map<string, Attributes>();
    const names = keyNames(TableName);
    let from: unknown;
    do {
      const page = await ask<{ Items: Attributes[]; LastEvaluatedKey?: unknown }>(send, "Scan", {
        TableName,
        IndexName,
        ...(from !== undefined && { ExclusiveStartKey: from }),
      });
      for (const item of page.Items) {
        entries.set(JSON.stringify([TableName, ...names.map((name) => item[name])]), item);
      }
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
    return { names: own, entries };
  };

  return {
    noteWrite: (row, send) => {
      // A process that ends meanwhile no longer shows its indexes to anybody.
      setTimeout(() => refresh(row, send).catch(() => {}), lagMilliseconds).unref();
    },
    query: async (body, send) => {
      const query = body as unknown as Query;
      const { own, matches } = conditionOf(query);
      const name = `${query.TableName}/${query.IndexName}`;
      const loading = indexes.get(name) ?? load(query, own, send);
      indexes.set(name, loading);
      const [, sort = ""] = own;
      const Items = [...(await loading).entries.values()]
        .filter(matches)
        .sort((one, other) => ((one[sort]?.S ?? "") < (other[sort]?.S ?? "") ? -1 : 1));
      return {
        status: 200,
        headers: { "content-type": "application/x-amz-json-1.0" },
        body: Buffer.from(JSON.stringify({ Items, Count: Items.length, ScannedCount: Items.length })),
      };
    },
  };
};

type Query = {
  TableName: string;
  IndexName: string;
  KeyConditionExpression: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues: Attributes;
};

const condition = /^(#?\w+) = (:\w+)(?: AND (#?\w+) (<=|>=|=|<|>) (:\w+))?$/;

const compare: Record<string, (one: string, other: string) => boolean> = {
  "<=": (one, other) => one <= other,
  ">=": (one, other) => one >= other,
  "=": (one, other) => one === other,
  "<": (one, other) => one < other,
  ">": (one, other) => one > other,
};

/** Which entries a query gives. Throws when the query is of a form that nothing here needs. */
const conditionOf = (query: Query): { own: string[]; matches: (entry: Attributes) => boolean } => {
  const { KeyConditionExpression, ExpressionAttributeNames = {}, ExpressionAttributeValues } = query;
  const parts = condition.exec(KeyConditionExpression);
  if (parts === null) throw new Error(`--index-lag does not know the condition ${KeyConditionExpression}`);
  const [, partition = "", value = "", sort, operator = "", bound = ""] = parts;
  const nameOf = (path: string): string => ExpressionAttributeNames[path] ?? path;
  const stringOf = (placeholder: string): string => ExpressionAttributeValues[placeholder]?.S ?? "";
  return {
    own: [nameOf(partition), ...(sort === undefined ? [] : [nameOf(sort)])],
    matches: (entry) =>
      entry[nameOf(partition)]?.S === stringOf(value) &&
      (sort === undefined || compare[operator]?.(entry[nameOf(sort)]?.S ?? "", stringOf(bound)) === true),
  };
};

const pick = (item: Attributes, names: readonly string[]): Attributes =>
  Object.fromEntries(names.map((name) => [name, item[name] as Value]));

const ask = async <T>(send: Send, operation: string, body: object): Promise<T> => {
  const answer = await send(Buffer.from(JSON.stringify(body)), operation);
  if (answer.status !== 200) throw new Error(`${operation} was refused: ${answer.body}`);
  return JSON.parse(answer.body.toString()) as T;
};
