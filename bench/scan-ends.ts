import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall, unmarshall } from "@aws-sdk/util-dynamodb";
import { type ScanRecord, scans } from "../shared/scanning/record.ts";
import { tableOf } from "./database.ts";
import { until } from "./measure.ts";
import type { Bench } from "./service.ts";

/** Waits until the row of a scan, which `read` gives, has ended. */
export const untilEnded = async (read: () => Promise<ScanRecord | undefined>): Promise<ScanRecord> => {
  let scan: ScanRecord | undefined;
  const isOver = async (): Promise<boolean> => {
    scan = await read();
    return scan !== undefined && ["completed", "failed"].includes(scans.groupOf(scan).status);
  };
  await until(isOver, { minutes: 60, what: "the end of a scan" });
  return scan as ScanRecord;
};

/** Waits for the end of a scan by reading the engine directly, so that the meter counts the scan alone. */
export const scanEnds = ({ engineUrl, assembly, seeded }: Bench, scanId: number): Promise<ScanRecord> => {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new DynamoDBClient({ endpoint: engineUrl, region: "us-east-1", credentials });
  const look = new GetItemCommand({
    TableName: tableOf(assembly).name,
    Key: marshall(scans.key(seeded.org, scanId)),
    ConsistentRead: true,
  });
  return untilEnded(async () => {
    const { Item } = await client.send(look);
    return Item && (unmarshall(Item) as ScanRecord);
  }).finally(() => client.destroy());
};

/** Starts a scan and waits for its end; gives its id. Throws unless it completes with so many new findings. */
export const scan = async (bench: Bench, newFindings: number): Promise<number> => {
  const started = await bench.api.send({ method: "POST", path: "/scans" });
  if (started.status !== 201) throw new Error(`The scan did not start: ${JSON.stringify(started.body)}`);
  const id = Number(started.body.scanJobId);
  const ended = await scanEnds(bench, id);
  if (scans.groupOf(ended).status === "completed" && ended.newBreachesFound === newFindings) return id;
  throw new Error(`The scan was to complete with ${newFindings} findings: ${JSON.stringify(ended)}`);
};
