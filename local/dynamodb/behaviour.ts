/**
 * How DynamoDB behaves beyond what the engine does: transactions refuse what overlaps them, requests take
 * time, replies get lost, and indexes lag. It stands between the front and the engine.
 */
import { setTimeout } from "node:timers/promises";
import { openLaggingIndexes } from "./lagging-index.ts";
import { type Body, type KeyNames, type RowId, singleRow, transactionRows } from "./rows.ts";

export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

/** Sends a request's body to the engine. `operation`: another one than the request's own. */
export type Send = (body: Buffer, operation?: string) => Promise<Answer>;

export type BehaviourSettings = {
  /** Whether transactions refuse what overlaps them, as on AWS. Only to compare, they do not. */
  conflicts: boolean;
  /** Milliseconds that requests take besides the engine's time. */
  latency: { read: number; write: number; transaction: number };
  /** The probability that the reply to a write gets lost after the write was done. */
  lostReplies: number;
  /** By how many milliseconds indexes lag behind the table. */
  indexLag: number;
};

export const undisturbed: BehaviourSettings = {
  conflicts: true,
  latency: { read: 0, write: 0, transaction: 0 },
  lostReplies: 0,
  indexLag: 0,
};

/** Thrown instead of an answer: the connection is to be closed without one. */
export class ReplyLost extends Error {}

/** Answers a request, by the engine or by itself. `operation`: such as "PutItem". */
export type Behaviour = (operation: string, body: Body, bytes: Buffer, send: Send) => Promise<Answer>;

const singleWrites = new Set(["PutItem", "UpdateItem", "DeleteItem"]);
const reads = new Set(["GetItem", "BatchGetItem", "Query", "Scan"]);

export const openBehaviour = (settings: BehaviourSettings, keyNames: KeyNames): Behaviour => {
  const { latency, lostReplies, indexLag } = settings;
  /** Rows of write transactions in flight. */
  const held = new Set<RowId>();
  /** Rows of other writes in flight, and by how many; they only refuse transactions that read. */
  const written = new Map<RowId, number>();
  const tokens = new Set<string>();
  const indexes = indexLag === 0 ? undefined : openLaggingIndexes(indexLag, keyNames);

  const isHeld = (row: RowId): boolean => settings.conflicts && held.has(row);
  /** Sends what writes these rows. */
  const finish = async (rows: readonly RowId[], bytes: Buffer, send: Send): Promise<Answer> => {
    const answer = await send(bytes);
    if (answer.status !== 200) return answer;
    for (const row of rows) indexes?.recordWrite(row, send);
    if (Math.random() < lostReplies) throw new ReplyLost();
    return answer;
  };
  const transactWrite: Behaviour = async (_, body, bytes, send) => {
    const rows = transactionRows(body, keyNames);
    const token = body.ClientRequestToken as string | undefined;
    if (token !== undefined && tokens.has(token))
      return refusal("TransactionInProgressException", inProgress);
    const conflicts = rows.map(isHeld);
    if (conflicts.includes(true)) {
      await pause(latency.transaction);
      return cancelled(conflicts);
    }
    for (const row of rows) held.add(row);
    if (token !== undefined) tokens.add(token);
    try {
      await pause(latency.transaction);
      return await finish(rows, bytes, send);
    } finally {
      for (const row of rows) held.delete(row);
      if (token !== undefined) tokens.delete(token);
    }
  };

  const transactGet: Behaviour = async (_, body, bytes, send) => {
    const isBusy = (row: RowId): boolean => isHeld(row) || written.has(row);
    const rows = transactionRows(body, keyNames);
    if (rows.some(isBusy)) return cancelled(rows.map(isBusy));
    await pause(latency.transaction);
    return send(bytes);
  };

  const writeOne: Behaviour = async (_, body, bytes, send) => {
    const row = singleRow(body, keyNames);
    if (isHeld(row)) return refusal("TransactionConflictException", conflict);
    written.set(row, (written.get(row) ?? 0) + 1);
    try {
      await pause(latency.write);
      return await finish([row], bytes, send);
    } finally {
      const remaining = (written.get(row) ?? 1) - 1;
      if (remaining === 0) written.delete(row);
      else written.set(row, remaining);
    }
  };

  const read: Behaviour = async (operation, body, bytes, send) => {
    await pause(latency.read);
    if (indexes !== undefined && operation === "Query" && body.IndexName !== undefined) {
      return indexes.query(body, send);
    }
    return send(bytes);
  };

  return (operation, body, bytes, send) => {
    const answerBy = (behaviour: Behaviour) => behaviour(operation, body, bytes, send);
    if (operation === "TransactWriteItems") return answerBy(transactWrite);
    if (operation === "TransactGetItems") return answerBy(transactGet);
    if (singleWrites.has(operation)) return answerBy(writeOne);
    if (reads.has(operation)) return answerBy(read);
    return send(bytes);
  };
};

/** A timer of 0 ms would take one. */
const pause = async (milliseconds: number): Promise<void> => {
  if (milliseconds > 0) await setTimeout(milliseconds);
};

const conflict = "Transaction is ongoing for the item";
const inProgress = "The transaction with the given request token is already in progress";

/** `conflicts`: of each entry of the transaction, whether it met another one. */
const cancelled = (conflicts: readonly boolean[]): Answer => {
  const reasons = conflicts.map((isConflict) => (isConflict ? "TransactionConflict" : "None"));
  return refusal(
    "TransactionCanceledException",
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${reasons.join(", ")}]`,
    {
      CancellationReasons: reasons.map((Code) => (Code === "None" ? { Code } : { Code, Message: conflict })),
    },
  );
};

const refusal = (code: string, message: string, fields: object = {}): Answer => ({
  status: 400,
  headers: { "content-type": "application/x-amz-json-1.0" },
  body: Buffer.from(
    JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${code}`, message, ...fields }),
  ),
});
