import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { expect, onTestFinished, test } from "vitest";
import { startDynamodb } from "../../../local/dynamodb/dynamodb.ts";
import { findEngine } from "../../../local/dynamodb/engine.ts";
import { clientOf, openTemplate, writeAssembly } from "../template.ts";

// Each test starts an engine of its own.
delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
const engine = await findEngine();

const tableProperties = {
  KeySchema: [
    { AttributeName: "pk", KeyType: "HASH" },
    { AttributeName: "sk", KeyType: "RANGE" },
  ],
  AttributeDefinitions: [
    { AttributeName: "pk", AttributeType: "S" },
    { AttributeName: "sk", AttributeType: "N" },
  ],
};
const withoutIndex = { Table: { Type: "AWS::DynamoDB::Table", Properties: tableProperties } };
const withIndex = {
  Table: {
    Type: "AWS::DynamoDB::Table",
    Properties: {
      ...tableProperties,
      AttributeDefinitions: [
        ...tableProperties.AttributeDefinitions,
        { AttributeName: "dueShard", AttributeType: "S" },
        { AttributeName: "dueAt", AttributeType: "S" },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: "due",
          KeySchema: [
            { AttributeName: "dueShard", KeyType: "HASH" },
            { AttributeName: "dueAt", KeyType: "RANGE" },
          ],
          Projection: { ProjectionType: "KEYS_ONLY" },
          WarmThroughput: { ReadUnitsPerSecond: 12000 },
        },
      ],
    },
  },
};
const item = { pk: { S: "a" }, sk: { N: "1" }, dueShard: { S: "0" }, dueAt: { S: "2030" } };

const connectTo = (endpoint: string): DynamoDBClient => {
  const client = new DynamoDBClient(clientOf(endpoint));
  onTestFinished(() => client.destroy());
  return client;
};

const makeDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "dynamodb-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
};

test("kill -9 of the runtime ends the engine too, and its data can be opened at once", async () => {
  const directory = await makeDirectory();
  const assembly = writeAssembly(withIndex);
  onTestFinished(() => rm(assembly, { recursive: true }));
  const local = join(import.meta.dirname, "../../../local");
  const script = join(directory, "run.mts");
  await writeFile(
    script,
    `import { openAssembly } from "${local}/template/assembly.ts";
     import { startDynamodb } from "${local}/dynamodb/dynamodb.ts";
     const assembly = openAssembly("${assembly}", { region: "us-east-1", accountId: "000000000000" });
     console.log((await startDynamodb({ assembly, directory: "${directory}" })).endpoint);
     setInterval(() => {}, 1000);`,
  );
  const runtime = spawn(process.execPath, [script], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(runtime.stdout, "data")) as [Buffer];
  const killed = connectTo(line.toString().trim());
  await killed.send(new PutItemCommand({ TableName: "test-Table", Item: item }));
  runtime.kill("SIGKILL");

  const server = await startDynamodb({ assembly: openTemplate(withIndex), directory });
  onTestFinished(server.close);
  const { Item } = await connectTo(server.endpoint).send(
    new GetItemCommand({ TableName: "test-Table", Key: { pk: item.pk, sk: item.sk } }),
  );
  expect(Item).toEqual(item);
  await expect
    .poll(() =>
      killed.send(new DescribeTableCommand({ TableName: "test-Table" })).then(
        () => "up",
        (error) => error.code,
      ),
    )
    .toBe("ECONNREFUSED");
});

test("data of another table layout is refused", async () => {
  const directory = await makeDirectory();
  const first = await startDynamodb({ assembly: openTemplate(withoutIndex), directory });
  await first.close();
  const other = {
    Table: {
      Type: "AWS::DynamoDB::Table",
      Properties: {
        KeySchema: [{ AttributeName: "id", KeyType: "HASH" }],
        AttributeDefinitions: [{ AttributeName: "id", AttributeType: "S" }],
      },
    },
  };
  for (const template of [other, withIndex]) {
    await expect(startDynamodb({ assembly: openTemplate(template), directory })).rejects.toThrow(
      "on disk has other keys or indexes",
    );
  }
});

test.runIf(engine.file === "dynamodb.sqlite")(
  "a data file that is no database is refused by name, with what to do",
  async () => {
    const directory = await makeDirectory();
    const file = join(directory, "dynamodb.sqlite");
    await writeFile(file, "not a database ".repeat(100));
    await expect(startDynamodb({ assembly: openTemplate(withIndex), directory })).rejects.toThrow(
      `${file}: restore that file, or choose other data with --data DIR.`,
    );
  },
);

test("an engine that ends unexpectedly is reported", async () => {
  let report: (reason: string) => void = () => {};
  const reported = new Promise<string>((resolve) => {
    report = resolve;
  });
  const server = await startDynamodb({
    assembly: openTemplate(withoutIndex),
    directory: undefined,
    onUnexpectedEnd: (reason) => report(reason),
  });
  onTestFinished(server.close);
  process.kill(server.processId ?? 0, "SIGKILL");
  expect(await reported).toContain("ended unexpectedly (SIGKILL)");
});
