/** Which rows a request to DynamoDB reads or writes. */

export type Body = Readonly<Record<string, unknown>>;

/** A row: `id` tells it apart from all others, `partition` from those with another partition key. */
export type Row = { id: string; partition: string };

/** The names of a table's key attributes, the partition key first. */
export type KeyNames = (table: string) => readonly string[];

type Attributes = Readonly<Record<string, unknown>>;
type Target = { TableName: string; Key?: Attributes; Item?: Attributes };
type BatchEntry = { PutRequest?: { Item: Attributes }; DeleteRequest?: { Key: Attributes } };

const rowOf = (keyNames: KeyNames, table: string, attributes: Attributes): Row => {
  const values = keyNames(table).map((name) => attributes[name]);
  return { id: JSON.stringify([table, ...values]), partition: JSON.stringify([table, values[0]]) };
};

const targetRow = (keyNames: KeyNames, { TableName, Key, Item }: Target): Row =>
  rowOf(keyNames, TableName, Key ?? Item ?? {});

/** The rows of a transaction, in the order of its entries. Checks count as much as writes. */
export const transactionRows = (body: Body, keyNames: KeyNames): Row[] =>
  ((body.TransactItems ?? []) as Record<string, Target>[]).map((entry) =>
    targetRow(keyNames, Object.values(entry)[0] as Target),
  );

/** The row of PutItem, UpdateItem, DeleteItem or GetItem. */
export const singleRow = (body: Body, keyNames: KeyNames): Row => targetRow(keyNames, body as Target);

/** The entries of BatchWriteItem or BatchGetItem with the row of each. */
export const batchRows = (body: Body, keyNames: KeyNames): { table: string; entry: Attributes; row: Row }[] =>
  Object.entries((body.RequestItems ?? {}) as Record<string, BatchEntry[] | { Keys: Attributes[] }>).flatMap(
    ([table, given]) =>
      Array.isArray(given)
        ? given.map((entry) => {
            const attributes = entry.PutRequest?.Item ?? entry.DeleteRequest?.Key ?? {};
            return { table, entry, row: rowOf(keyNames, table, attributes) };
          })
        : given.Keys.map((entry) => ({ table, entry, row: rowOf(keyNames, table, entry) })),
  );

/** The partition that a query reads, of the table or of an index; undefined if its key condition is unusual. */
export const queriedPartition = (body: Body): string | undefined => {
  const { TableName, IndexName, KeyConditionExpression, ExpressionAttributeValues } = body as {
    TableName: string;
    IndexName?: string;
    KeyConditionExpression?: string;
    ExpressionAttributeValues?: Attributes;
  };
  const [, placeholder = ""] = /=\s*(:\w+)/.exec(KeyConditionExpression ?? "") ?? [];
  const value = ExpressionAttributeValues?.[placeholder];
  const table = IndexName === undefined ? TableName : `${TableName}/${IndexName}`;
  return value === undefined ? undefined : JSON.stringify([table, value]);
};
