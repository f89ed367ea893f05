/**
 * Writes seeded tables through the engine's import format, which is many times as fast as requests.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { marshall } from "@aws-sdk/util-dynamodb";
import { type Assembly, openAssembly } from "../local/template/assembly.ts";
import type { Context } from "./arm.ts";
import type { Row } from "./seed/shape.ts";

const linesPerWrite = 1_000;

type TableProperties = Record<"AttributeDefinitions" | "KeySchema" | "GlobalSecondaryIndexes", unknown>;

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
  const lines = linesOf(rows, (done) => progress(`${of.toLocaleString("en-US")} rows: writing`, done, of));
  const compressed = createWriteStream(join(source, name, "data", "rows.json.gz"));
  await pipeline(lines, createGzip({ level: 1 }), compressed);
  const file = join(directory, "dynamodb.sqlite");
  // The engine reports no progress: it imports into memory and writes the file in the end.
  progress(`${of.toLocaleString("en-US")} rows: importing into the engine`);
  await runImport(["import", "--source", source, "--schema", schemaFile, "--output", file]);
  await rm(source, { recursive: true });
};

/** The lines of an export, many at once, since each write to a stream takes time. */
const linesOf = function* (rows: Iterable<Row>, progress: (done: number) => void): Generator<string> {
  let lines: string[] = [];
  let done = 0;
  for (const row of rows) {
    lines.push(`${JSON.stringify({ Item: marshall(row, { removeUndefinedValues: true }) })}\n`);
    if (lines.length < linesPerWrite) continue;
    yield lines.join("");
    lines = [];
    done += linesPerWrite;
    progress(done);
  }
  yield lines.join("");
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
