/**
 * How DynamoDB behaves beyond what the engine does: transactions refuse what overlaps them, requests take
 * time, partitions throttle, replies get lost, indexes lag, and rows expire. It stands between the front and the engine.
 */
import { setTimeout } from "node:timers/promises";
import { openExpiry } from "./expiry.ts";
import { openLaggingIndexes } from "./lagging-index.ts";
import {
  type Body,
  batchRows,
  type KeyNames,
  queriedPartition,
  type Row,
  singleRow,
  transactionRows,
} from "./rows.ts";
import { openThroughput, type Partitions, type Throughput, type Units } from "./throughput.ts";

export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

/** Sends a request's body to the engine. `operation`: another one than the request's own. */
export type Send = (body: Buffer, operation?: string) => Promise<Answer>;

export type BehaviourSettings = {
  /** Whether transactions refuse what overlaps them, as on AWS. Only to compare, they do not. */
  conflicts: boolean;
  /** Milliseconds that requests take besides the engine's time. */
  latency: { read: number; write: number; transaction: number };
  /** The partitions of the table, which throttle; undefined: nothing is throttled. */
  partitions: Partitions | undefined;
  /** The probability that the reply to a write gets lost after the write was done. */
  lostReplies: number;
  /** By how many milliseconds indexes lag behind the table. */
  indexLag: number;
  /** Whether rows go as soon as their time to live is over. Otherwise they stay. */
  expiresRows: boolean;
};

export const undisturbed: BehaviourSettings = {
  conflicts: true,
  latency: { read: 0, write: 0, transaction: 0 },
  partitions: undefined,
  lostReplies: 0,
  indexLag: 0,
  expiresRows: false,
};

/** Thrown instead of an answer: the connection is to be closed without one. */
export class ReplyLost extends Error {}

/** Answers a request, by the engine or by itself. `operation`: such as "PutItem". */
export type Behaviour = (operation: string, body: Body, bytes: Buffer, send: Send) => Promise<Answer>;

const singleWrites = new Set(["PutItem", "UpdateItem", "DeleteItem"]);

/** `timeToLive`: the attribute with the epoch seconds after which a row may be deleted. */
export const openBehaviour = (
  settings: BehaviourSettings,
  keyNames: KeyNames,
  timeToLive: string | undefined,
): Behaviour => {
  const { latency, lostReplies, indexLag, expiresRows } = settings;
  const throughput = settings.partitions === undefined ? undefined : openThroughput(settings.partitions);
  /** Rows of write transactions in flight. */
  const held = new Set<string>();
  /** Rows of other writes in flight, and by how many; they only refuse transactions that read. */
  const written = new Map<string, number>();
  const tokens = new Set<string>();
  const indexes = indexLag === 0 ? undefined : openLaggingIndexes(indexLag, keyNames);
  const noteExpiry = expiresRows && timeToLive !== undefined ? openExpiry(timeToLive, keyNames) : undefined;

  const noting = async (rows: readonly Row[], send: Send, act: () => Promise<Answer>): Promise<Answer> => {
    const answer = await act();
    for (const row of answer.status === 200 ? rows : []) {
      indexes?.noteWrite(row, send);
      noteExpiry?.(row, send);
    }
    return answer;
  };
  const isHeld = ({ id }: Row): boolean => settings.conflicts && held.has(id);
  const write = async (rows: readonly Row[], act: () => Promise<Answer>): Promise<Answer> => {
    for (const { id } of rows) written.set(id, (written.get(id) ?? 0) + 1);
    try {
      await pause(latency.write);
      return await act();
    } finally {
      for (const { id } of rows) {
        const others = (written.get(id) ?? 1) - 1;
        if (others === 0) written.delete(id);
        else written.set(id, others);
      }
    }
  };
  const losingReply = (answer: Answer): Answer => {
    if (answer.status === 200 && Math.random() < lostReplies) throw new ReplyLost();
    return answer;
  };
  const metered = (throughput: Throughput | undefined, send: Send, units: Units, partitions: string[]) =>
    throughput === undefined ? send : meter(throughput, send, units, partitions);

  const transactWrite: Behaviour = async (_, body, bytes, send) => {
    const rows = transactionRows(body, keyNames);
    const token = body.ClientRequestToken as string | undefined;
    if (token !== undefined && tokens.has(token))
      return refusal("TransactionInProgressException", inProgress);
    const partitions = rows.map(({ partition }) => partition);
    const reasons = rows.map((row) => {
      if (isHeld(row)) return "TransactionConflict" as const;
      return throughput?.isSpent(row.partition, "write") ? ("ThrottlingError" as const) : undefined;
    });
    if (reasons.some((reason) => reason !== undefined)) {
      await pause(latency.transaction);
      // Each row costs two writes: one to prepare the transaction, one to commit it. A cancelled transaction has
      // prepared those rows that were not throttled.
      const prepared = partitions.filter((_, index) => reasons[index] !== "ThrottlingError");
      throughput?.charge(prepared, "write", prepared.length);
      return cancelled(reasons);
    }
    for (const { id } of rows) held.add(id);
    if (token !== undefined) tokens.add(token);
    try {
      await pause(latency.transaction);
      const sending = metered(throughput, send, "write", partitions);
      return losingReply(await noting(rows, send, () => sending(bytes)));
    } finally {
      for (const { id } of rows) held.delete(id);
      if (token !== undefined) tokens.delete(token);
    }
  };

  const transactGet: Behaviour = async (_, body, bytes, send) => {
    const rows = transactionRows(body, keyNames);
    const reasons = rows.map((row) => {
      if (isHeld(row) || written.has(row.id)) return "TransactionConflict" as const;
      return throughput?.isSpent(row.partition, "read") ? ("ThrottlingError" as const) : undefined;
    });
    if (reasons.some((reason) => reason !== undefined)) return cancelled(reasons);
    await pause(latency.transaction);
    const partitions = rows.map(({ partition }) => partition);
    return metered(throughput, send, "read", partitions)(bytes);
  };

  const writeOne: Behaviour = async (_, body, bytes, send) => {
    const row = singleRow(body, keyNames);
    if (isHeld(row)) return refusal("TransactionConflictException", conflict);
    if (throughput?.isSpent(row.partition, "write")) return refusal("ThrottlingException", throttled);
    const sending = metered(throughput, send, "write", [row.partition]);
    return losingReply(await write([row], () => noting([row], send, () => sending(bytes))));
  };

  const batch =
    (units: Units): Behaviour =>
    async (_, body, bytes, send) => {
      const entries = batchRows(body, keyNames);
      const isLeft = ({ row }: { row: Row }): boolean =>
        (units === "write" && isHeld(row)) || throughput?.isSpent(row.partition, units) === true;
      const left = entries.filter(isLeft);
      const taken = entries.filter((entry) => !left.includes(entry));
      if (taken.length === 0) return refusal("ThrottlingException", throttled);
      const partitions = taken.map(({ row }) => row.partition);
      const sending = metered(throughput, send, units, partitions);
      const sent = left.length === 0 ? bytes : withEntries(body, taken);
      if (units === "read") {
        await pause(latency.read);
        return withUnprocessed(await sending(sent), "UnprocessedKeys", body, left);
      }
      const rows = taken.map(({ row }) => row);
      const answer = losingReply(await write(rows, () => noting(rows, send, () => sending(sent))));
      return withUnprocessed(answer, "UnprocessedItems", body, left);
    };

  const read: Behaviour = async (operation, body, bytes, send) => {
    const partition = operation === "GetItem" ? singleRow(body, keyNames).partition : queriedPartition(body);
    if (partition !== undefined && throughput?.isSpent(partition, "read")) {
      return refusal("ThrottlingException", throttled);
    }
    await pause(latency.read);
    if (indexes !== undefined && operation === "Query" && body.IndexName !== undefined) {
      return indexes.query(body, send);
    }
    return metered(throughput, send, "read", partition === undefined ? [] : [partition])(bytes);
  };

  return (operation, body, bytes, send) => {
    const answerBy = (behaviour: Behaviour) => behaviour(operation, body, bytes, send);
    if (operation === "TransactWriteItems") return answerBy(transactWrite);
    if (operation === "TransactGetItems") return answerBy(transactGet);
    if (singleWrites.has(operation)) return answerBy(writeOne);
    if (operation === "BatchWriteItem") return answerBy(batch("write"));
    if (operation === "BatchGetItem") return answerBy(batch("read"));
    if (operation === "GetItem" || operation === "Query" || operation === "Scan") return answerBy(read);
    return send(bytes);
  };
};

/** A timer of 0 ms would take one. */
const pause = async (milliseconds: number): Promise<void> => {
  if (milliseconds > 0) await setTimeout(milliseconds);
};

const conflict = "Transaction is ongoing for the item";
const inProgress = "The transaction with the given request token is already in progress";
const throttled =
  "Throughput exceeds the current capacity of your table or index. DynamoDB is automatically scaling your " +
  "table or index so please try again shortly.";

/** Sends a request, charging the units that the engine says it took, or a failed condition as one unit. */
const meter =
  (throughput: Throughput, send: Send, units: Units, partitions: readonly string[]): Send =>
  async (bytes) => {
    const body = JSON.parse(bytes.toString()) as Body;
    const answer = await send(Buffer.from(JSON.stringify({ ReturnConsumedCapacity: "TOTAL", ...body })));
    const { ConsumedCapacity = [] } = JSON.parse(answer.body.toString()) as {
      ConsumedCapacity?: { CapacityUnits?: number } | { CapacityUnits?: number }[];
    };
    const told = [ConsumedCapacity].flat().reduce((sum, each) => sum + (each.CapacityUnits ?? 0), 0);
    throughput.charge(partitions, units, answer.status === 200 ? told : partitions.length);
    return answer;
  };

const withEntries = (body: Body, entries: ReturnType<typeof batchRows>): Buffer =>
  Buffer.from(JSON.stringify({ ...body, RequestItems: requestItems(body, entries) }));

const requestItems = (body: Body, entries: ReturnType<typeof batchRows>): Record<string, unknown> => {
  const given = body.RequestItems as Record<string, unknown>;
  return Object.fromEntries(
    [...Map.groupBy(entries, ({ table }) => table)].map(([table, some]) => {
      const items = some.map(({ entry }) => entry);
      return [table, Array.isArray(given[table]) ? items : { ...(given[table] as object), Keys: items }];
    }),
  );
};

const withUnprocessed = (
  answer: Answer,
  name: "UnprocessedItems" | "UnprocessedKeys",
  body: Body,
  left: ReturnType<typeof batchRows>,
): Answer => {
  if (left.length === 0 || answer.status !== 200) return answer;
  const reply = { ...JSON.parse(answer.body.toString()), [name]: requestItems(body, left) };
  const { "x-amz-crc32": _, ...headers } = answer.headers;
  return { ...answer, headers, body: Buffer.from(JSON.stringify(reply)) };
};

const reasonMessages = { TransactionConflict: conflict, ThrottlingError: throttled };

const cancelled = (reasons: readonly (keyof typeof reasonMessages | undefined)[]): Answer =>
  refusal(
    "TransactionCanceledException",
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${reasons.map((each) => each ?? "None").join(", ")}]`,
    {
      CancellationReasons: reasons.map((each) =>
        each === undefined ? { Code: "None" } : { Code: each, Message: reasonMessages[each] },
      ),
    },
  );

const refusal = (code: string, message: string, fields: object = {}): Answer => ({
  status: 400,
  headers: { "content-type": "application/x-amz-json-1.0" },
  body: Buffer.from(
    JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${code}`, message, ...fields }),
  ),
});
