/** What a transaction sends, and what DynamoDB says when it refuses one. */
import { type AttributeValue, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import type { TransactWriteCommandInput } from "@aws-sdk/lib-dynamodb";
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { withVersion } from "../../contract/version.ts";
import { readable, tableName } from "./clients.ts";
import { changeFields, conditionFields, type Item, keyOf, rowOf, type Write } from "./condition.ts";

type TransactItem = NonNullable<TransactWriteCommandInput["TransactItems"]>[number];

/** The writes as a transaction sends them. Throws when two are on one row, which DynamoDB would refuse. */
export const transactItems = (writes: readonly Write[]): TransactItem[] => {
  const rows = new Set<string>();
  for (const write of writes) {
    const row = rowOf(write);
    if (rows.has(row)) throw new Error(`A transaction has two writes on ${row}: make them one write`);
    rows.add(row);
  }
  return writes.map(transactItem);
};

const transactItem = (write: Write): TransactItem => {
  const TableName = tableName();
  const { pk, sk } = keyOf(write);
  const Key = { pk, sk };
  const ReturnValuesOnConditionCheckFailure = "ALL_OLD";
  if ("put" in write) {
    return {
      Put: {
        TableName,
        Item: withVersion(write.put),
        ...conditionFields(write.if),
        ReturnValuesOnConditionCheckFailure,
      },
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

/** A write whose condition did not hold: its index in the list, and its row as it is, if there is one. */
export type FailedWrite = { index: number; item: Item | undefined };

/**
 * The writes whose conditions made DynamoDB refuse a transaction; none when the error is another one. Throws
 * `NewerVersion` when one of their rows is of a newer version.
 */
export const failedWrites = (error: unknown): FailedWrite[] => {
  if (!(error instanceof TransactionCanceledException)) return [];
  return (error.CancellationReasons ?? []).flatMap((reason, index) =>
    reason.Code === "ConditionalCheckFailed" ? [{ index, item: rowInError(reason.Item) }] : [],
  );
};

/**
 * The row in an error of the SDK. The document client does not convert its values from the wire. Throws
 * `NewerVersion`, since a write leaves such a row alone.
 */
export const rowInError = (row: Record<string, AttributeValue> | undefined): Item | undefined =>
  row === undefined || Object.keys(row).length === 0 ? undefined : unmarshall(readable(row));
