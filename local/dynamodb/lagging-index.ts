/**
 * Global secondary indexes that show the table as it was a while ago, as DynamoDB's do: what was written meanwhile
 * is missing, and what was deleted or changed meanwhile is still there. They are those of a second table, to which
 * each row is copied after the lag.
 */
import type { GlobalSecondaryIndex } from "@aws-sdk/client-dynamodb";
import type { Answer, Send } from "./behaviour.ts";
import type { Body, KeyNames, RowId } from "./rows.ts";
import { pickIndex } from "./tables.ts";

type Attributes = Record<string, unknown>;

export type LaggingIndexes = {
  /**
   * Makes a write visible in the indexes once the lag has passed. A copy that fails is made again, after the
   * same lag, up to `tries` times.
   */
  recordWrite: (row: RowId, send: Send, tries?: number) => void;
  query: (body: Body, send: Send) => Promise<Answer>;
};

export const openLaggingIndexes = (lagMilliseconds: number, keyNames: KeyNames): LaggingIndexes => {
  /** The names of second tables by those of tables: the first query of an index makes one. */
  const copies = new Map<string, Promise<string>>();

  const copyRow = async (row: RowId, send: Send): Promise<void> => {
    const [table, ...values] = JSON.parse(row) as [string, ...unknown[]];
    const copy = await copies.get(table);
    if (copy === undefined) return;
    const Key = Object.fromEntries(keyNames(table).map((name, place) => [name, values[place]]));
    const { Item } = await ask<{ Item?: Attributes }>(send, "GetItem", {
      TableName: table,
      Key,
      ConsistentRead: true,
    });
    if (Item === undefined) await ask(send, "DeleteItem", { TableName: copy, Key });
    else await ask(send, "PutItem", { TableName: copy, Item });
  };

  const makeCopy = async (table: string, send: Send): Promise<string> => {
    const copy = `${table}-lagging`;
    // One of an earlier run is out of date.
    await ask(send, "DeleteTable", { TableName: copy }).catch(() => {});
    const { Table } = await ask<{ Table: Described }>(send, "DescribeTable", { TableName: table });
    const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes = [] } = Table;
    await ask(send, "CreateTable", {
      TableName: copy,
      BillingMode: "PAY_PER_REQUEST",
      AttributeDefinitions,
      KeySchema,
      GlobalSecondaryIndexes: GlobalSecondaryIndexes.map(pickIndex),
    });
    let from: unknown;
    do {
      const page = await ask<{ Items: Attributes[]; LastEvaluatedKey?: unknown }>(send, "Scan", {
        TableName: table,
        ...(from !== undefined && { ExclusiveStartKey: from }),
      });
      for (const Item of page.Items) await ask(send, "PutItem", { TableName: copy, Item });
      from = page.LastEvaluatedKey;
    } while (from !== undefined);
    return copy;
  };

  return {
    recordWrite: function record(row, send, tries = 20): void {
      const again = () => tries > 1 && record(row, send, tries - 1);
      // A process that ends meanwhile no longer shows its indexes to anybody.
      setTimeout(() => copyRow(row, send).catch(again), lagMilliseconds).unref();
    },
    query: async (body, send) => {
      const table = body.TableName as string;
      const making = copies.get(table) ?? makeCopy(table, send);
      copies.set(table, making);
      return send(Buffer.from(JSON.stringify({ ...body, TableName: await making })));
    },
  };
};

type Described = {
  AttributeDefinitions: unknown;
  KeySchema: unknown;
  GlobalSecondaryIndexes?: GlobalSecondaryIndex[];
};

const ask = async <T>(send: Send, operation: string, body: object): Promise<T> => {
  const answer = await send(Buffer.from(JSON.stringify(body)), operation);
  if (answer.status !== 200) throw new Error(`${operation} was refused: ${answer.body}`);
  return JSON.parse(answer.body.toString()) as T;
};
