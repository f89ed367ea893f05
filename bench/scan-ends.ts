import { GetItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type ScanRecord, scans } from "../shared/scanning/record.ts";
import { engineClient, tableOf } from "./database.ts";
import type { Bench } from "./service.ts";

const lookAgainMilliseconds = 200;

/** Waits for the end of a scan by reading the engine directly, so that the meter counts the scan alone. */
export const scanEnds = async (
  { engine, assembly, seeded }: Bench,
  scanId: number,
  seconds = 3_600,
): Promise<ScanRecord> => {
  const client = engineClient(engine.url);
  const look = new GetItemCommand({
    TableName: tableOf(assembly).name,
    Key: marshall(scans.key(seeded.org, scanId)),
    ConsistentRead: true,
  });
  const deadline = Date.now() + seconds * 1000;
  try {
    for (;;) {
      const { Item } = await client.send(look);
      const scan = Item && (unmarshall(Item) as ScanRecord);
      const status = scan && scans.groupOf(scan).status;
      if (scan !== undefined && (status === "completed" || status === "failed")) return scan;
      if (Date.now() > deadline)
        throw new Error(`Scan ${scanId} did not end within ${seconds} s: ${JSON.stringify(scan)}`);
      await new Promise((resolve) => setTimeout(resolve, lookAgainMilliseconds));
    }
  } finally {
    client.destroy();
  }
};
