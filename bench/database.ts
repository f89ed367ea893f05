/**
 * Writes seeded tables through the engine's import format, which is many times as fast as requests.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createGzip } from "node:zlib";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { type Assembly, openAssembly } from "../local/template/assembly.ts";
import type { Context } from "./arm.ts";
import type { Row } from "./seed/shape.ts";

const rowsPerWrite = 500;

type TableProperties = Record<"AttributeDefinitions" | "KeySchema" | "GlobalSecondaryIndexes", unknown>;

/** A client of the engine itself, whose requests no meter counts. */
export const engineClient = (url: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint: url,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });

export const openedAssembly = (directory: string): Assembly =>
  openAssembly(directory, { region: "us-east-1", accountId: "000000000000" });

/** The stack's one table: its name, and its description as DescribeTable would answer it. */
export const tableOf = (assemblyDirectory: string): { name: string; schema: object } => {
  const assembly = openedAssembly(assemblyDirectory);
  const [table] = assembly.ofType<TableProperties>("AWS::DynamoDB::Table");
  if (table === undefined) throw new Error("The template has no DynamoDB table");
  const name = assembly.physicalId(table.logicalId);
  const { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes } = table.properties;
  const described = {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions,
    KeySchema,
    GlobalSecondaryIndexes,
  };
  return { name, schema: { Table: described } };
};

/**
 * Writes these rows into `<directory>/dynamodb.sqlite`, which a local run can use as its data. `of`: about
 * how many rows there are, for progress.
 */
export const createDatabase = async (
  directory: string,
  assemblyDirectory: string,
  { rows, of, progress }: { rows: Iterable<Row>; of: number; progress: Context["progress"] },
): Promise<void> => {
  const { name, schema } = tableOf(assemblyDirectory);
  const source = join(directory, "export");
  await mkdir(join(source, name, "data"), { recursive: true });
  const schemaFile = join(directory, "schema.json");
  await writeFile(schemaFile, JSON.stringify(schema));
  await writeRows(join(source, name, "data", "rows.json.gz"), rows, (done) =>
    progress(`${of.toLocaleString("en-US")} rows: writing`, done, of),
  );
  const file = join(directory, "dynamodb.sqlite");
  // The engine reports no progress: it imports into memory and writes the file in the end.
  progress(`${of.toLocaleString("en-US")} rows: importing into the engine`);
  await runImport(["import", "--source", source, "--schema", schemaFile, "--output", file]);
  await rm(source, { recursive: true });
};

/** Binary values as the export format has them. The value that a Buffer gives of itself is not its bytes. */
function binaryAsBase64(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const stored = this[key];
  return stored instanceof Uint8Array ? Buffer.from(stored).toString("base64") : value;
}

const writeRows = async (
  file: string,
  rows: Iterable<Row>,
  progress: (done: number) => void,
): Promise<void> => {
  const zip = createGzip({ level: 1 });
  const target = createWriteStream(file);
  const finished = once(target, "finish");
  zip.pipe(target);
  let lines: string[] = [];
  let done = 0;
  const flush = async (): Promise<void> => {
    done += lines.length;
    const text = lines.join("");
    lines = [];
    if (!zip.write(text)) await once(zip, "drain");
    if (done % 10_000 === 0) progress(done);
  };
  for (const row of rows) {
    lines.push(
      `${JSON.stringify({ Item: marshall(row, { removeUndefinedValues: true }) }, binaryAsBase64)}\n`,
    );
    if (lines.length === rowsPerWrite) await flush();
  }
  await flush();
  zip.end();
  await finished;
};

const runImport = async (args: string[]): Promise<void> => {
  const manifest = createRequire(import.meta.url).resolve(
    `@dynoxide/${process.platform}-${process.arch}/package.json`,
  );
  const child = spawn(manifest.replace(/package\.json$/, "dynoxide"), args, {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const printed: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => printed.push(chunk));
  const [status] = (await once(child, "close")) as [number | null];
  if (status !== 0)
    throw new Error(`The engine did not import the rows:\n${Buffer.concat(printed).toString()}`);
};
