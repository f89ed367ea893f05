/**
 * The plain way to make a page with its total: query the whole list with a filter, count what comes, skip to the offset.
 * On the same rows; with one partition for the list it would read the same bytes.
 */
import { type AttributeValue, QueryCommand } from "@aws-sdk/client-dynamodb";
import { keys, type ListKind } from "../shared/table/keys.ts";
import { engineClient } from "./database.ts";

export type Filter = { expression: string; values: Record<string, string> };

export type Plain = {
  total: number;
  readUnits: number;
  /** Of the replies. */
  bytes: number;
  /** What this process computed. */
  cpuMilliseconds: number;
  /** Pages of 1 MB, one after the other. */
  trips: number;
  milliseconds: number;
};

type Next = (given: object) => Promise<{ response: { headers: Record<string, string> } }>;

const unitBytes = 4096;
const pageBytes = 1024 * 1024;

export const readPlainly = async (
  engineUrl: string,
  tableName: string,
  list: {
    org: number;
    kind: ListKind;
    blocks: number;
    filter?: Filter | undefined;
    /** Only members whose `createdAt` is not earlier. */
    since?: string | undefined;
  },
): Promise<Plain> => {
  const client = engineClient(engineUrl);
  const { org, kind, blocks, filter, since } = list;
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
  const computed = process.cpuUsage();
  const begin = performance.now();
  let total = 0;
  let readUnits = 0;
  for (let block = blocks - 1; block >= 0; block--) {
    let start: Record<string, AttributeValue> | undefined;
    do {
      const reply = await client.send(
        new QueryCommand({
          TableName: tableName,
          KeyConditionExpression: "pk = :pk",
          ...(conditions.length > 0 && {
            FilterExpression: conditions.join(" AND "),
            ExpressionAttributeNames: {
              ...(filter !== undefined && { "#facet": "facet" }),
              ...(since !== undefined && { "#createdAt": "createdAt" }),
            },
          }),
          ExpressionAttributeValues: {
            ":pk": { S: keys.member(org, kind, block, 0).pk },
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
  if (bytes === 0) throw new Error("The engine does not say how long its replies are");
  const { user, system } = process.cpuUsage(computed);
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
