/** Which rows a request to DynamoDB reads or writes. */
import type { Assembly } from "../template/assembly.ts";

export type Body = Readonly<Record<string, unknown>>;

/** Tells a row apart from all others: its table and the values of its key, in JSON. */
export type RowId = string;

/** The names of a table's key attributes, the partition key first. */
export type KeyNames = (table: string) => readonly string[];

type TableProperties = { KeySchema?: { AttributeName: string; KeyType: string }[] };

/** The key attributes of the template's tables, partition keys first; none of unknown tables. */
export const keyNamesIn = (assembly: Assembly): KeyNames => {
  const namesOf = new Map(
    assembly
      .ofType<TableProperties>("AWS::DynamoDB::Table")
      .map(({ logicalId, properties: { KeySchema = [] } }) => [
        assembly.physicalId(logicalId),
        KeySchema.toSorted((one, other) => (one.KeyType < other.KeyType ? -1 : 1)).map(
          (each) => each.AttributeName,
        ),
      ]),
  );
  return (table) => namesOf.get(table) ?? [];
};

type Attributes = Readonly<Record<string, unknown>>;
type Target = { TableName: string; Key?: Attributes; Item?: Attributes };

const targetRow = (keyNames: KeyNames, { TableName, Key, Item }: Target): RowId =>
  JSON.stringify([TableName, ...keyNames(TableName).map((name) => (Key ?? Item)?.[name])]);

/** The rows of a transaction, in the order of its entries. Checks count as much as writes. */
export const transactionRows = (body: Body, keyNames: KeyNames): RowId[] =>
  ((body.TransactItems ?? []) as Record<string, Target>[]).map((entry) =>
    targetRow(keyNames, Object.values(entry)[0] as Target),
  );

/** The row of PutItem, UpdateItem or DeleteItem. */
export const singleRow = (body: Body, keyNames: KeyNames): RowId => targetRow(keyNames, body as Target);
