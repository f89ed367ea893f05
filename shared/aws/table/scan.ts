/** Reads the whole table: what an operator asks for, never a request. A row that is written meanwhile may be missed. */
import { ScanCommand, type ScanCommandOutput } from "@aws-sdk/client-dynamodb";
import { tableName, wire } from "./clients.ts";
import type { Item } from "./condition.ts";
import type { Key } from "./keys.ts";
import { withContentionRetry } from "./patience.ts";
import { fromWire } from "./table.ts";

/** Every row as it is now, in no order, one page of at most 1 MB at a time. One read unit for each 4 KB. */
export async function* scanPages(): AsyncGenerator<(Key & Item)[], void, undefined> {
  let start: ScanCommandOutput["LastEvaluatedKey"];
  do {
    const command = new ScanCommand({
      TableName: tableName(),
      ConsistentRead: true,
      ExclusiveStartKey: start,
    });
    const reply = await withContentionRetry(() => wire().send(command));
    yield (reply.Items ?? []).map((row) => fromWire<Key & Item>(row));
    start = reply.LastEvaluatedKey;
  } while (start !== undefined);
}
