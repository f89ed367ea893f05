/**
 * The plain way to make a page with its total: query the whole list with a filter expression, count what
 * comes, and skip to the offset. It reads the service's own rows; a list in a single partition would take the
 * same bytes.
 */
import { type AttributeValue, QueryCommand } from "@aws-sdk/client-dynamodb";
import { engineClient } from "./database.ts";

export type Filter = { expression: string; values: Record<string, string> };

export type Plain = {
  total: number;
  readUnits: number;
  /** Length of all replies. */
  bytes: number;
  /** CPU time of this process. */
  cpuMilliseconds: number;
  /** Round trips, one after the other, that a list in one partition would take: pages of 1 MB. */
  trips: number;
  milliseconds: number;
};

type Next = (given: object) => Promise<{ response: { headers: Record<string, string> } }>;

const unitBytes = 4096;
const pageBytes = 1024 * 1024;

/** @throws Error when the engine does not tell the length of its replies. */
export const readPlainly = async (
  engineUrl: string,
  tableName: string,
  list: {
    /** Values of `pk` that hold the members. */
    partitions: readonly string[];
    filter?: Filter | undefined;
    /** When given, only members count whose `createdAt` (ISO 8601) is not earlier. */
    since?: string | undefined;
  },
): Promise<Plain> => {
  const client = engineClient(engineUrl);
  const { partitions, filter, since } = list;
  let bytes = 0;
  const countBytes = (next: Next) => async (given: object) => {
    const reply = await next(given);
    bytes += Number(reply.response.headers["content-length"] ?? 0);
    return reply;
  };
  client.middlewareStack.add(countBytes as never, { step: "deserialize", priority: "low" });
  const conditions = [
    ...(filter === undefined ? [] : [filter.expression]),
    ...(since === undefined ? [] : ["#createdAt >= :since"]),
  ];
  const values = { ...filter?.values, ...(since !== undefined && { ":since": since }) };
  const cpuBefore = process.cpuUsage();
  const begin = performance.now();
  let total = 0;
  let readUnits = 0;
  for (const partition of partitions) {
    let start: Record<string, AttributeValue> | undefined;
    do {
      const reply = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: "pk = :pk",
          ...(conditions.length > 0 && {
            FilterExpression: conditions.join(" AND "),
            ExpressionAttributeNames: {
              ...(filter !== undefined && { "#group": "group" }),
              ...(since !== undefined && { "#createdAt": "createdAt" }),
            },
          }),
          ExpressionAttributeValues: {
            ":pk": { S: partition },
            ...Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { S: value }])),
          },
          ScanIndexForward: false,
          ConsistentRead: true,
          ExclusiveStartKey: start,
          ReturnConsumedCapacity: "TOTAL",
        }),
      );
      total += reply.Count ?? 0;
      readUnits += reply.ConsumedCapacity?.CapacityUnits ?? 0;
      start = reply.LastEvaluatedKey;
    } while (start !== undefined);
  }
  client.destroy();
  if (bytes === 0) throw new Error("The engine sends no content-length, so that bytes cannot be counted");
  const { user, system } = process.cpuUsage(cpuBefore);
  const trips = Math.max(1, Math.ceil((readUnits * unitBytes) / pageBytes));
  return {
    total,
    readUnits,
    bytes,
    cpuMilliseconds: (user + system) / 1_000,
    trips,
    milliseconds: performance.now() - begin,
  };
};
