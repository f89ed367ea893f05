import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { openAssembly } from "../local/assembly.ts";
import { tableOf } from "./database.ts";

/** What is paid for by its being there. */
export const countResources = (assemblyDirectory: string): { alarms: number; eventSources: number } => {
  const assembly = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
  return {
    alarms: assembly.ofType("AWS::CloudWatch::Alarm").length,
    eventSources: assembly.ofType("AWS::Lambda::EventSourceMapping").length,
  };
};

/** What the table holds, as the engine counts it, with DynamoDB's 100 bytes for each row. */
export const tableBytes = async (engineUrl: string, assemblyDirectory: string): Promise<number> => {
  const client = new DynamoDBClient({
    endpoint: engineUrl,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  try {
    const { Table } = await client.send(
      new DescribeTableCommand({ TableName: tableOf(assemblyDirectory).name }),
    );
    return (Table?.TableSizeBytes ?? 0) + 100 * (Table?.ItemCount ?? 0);
  } finally {
    client.destroy();
  }
};
