import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { join } from "node:path";
import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  ResourceNotFoundException,
  type TableDescription,
  type TimeToLiveSpecification,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import type { Assembly } from "./assembly.ts";
import { findFreePort } from "./loopback.ts";

export interface DynamodbServer {
  readonly endpoint: string;
  /** Undefined when AWS_ENDPOINT_URL_DYNAMODB names the server. */
  readonly engineProcessId?: number | undefined;
  close(): Promise<void>;
}

/** What of AWS::DynamoDB::Table and AWS::DynamoDB::GlobalTable matters here; both spell it alike. */
interface TableProperties {
  readonly AttributeDefinitions: AttributeDefinition[];
  readonly KeySchema: KeySchemaElement[];
  readonly GlobalSecondaryIndexes?: GlobalSecondaryIndex[];
  readonly TimeToLiveSpecification?: TimeToLiveSpecification;
}

const startTimeoutMilliseconds = 5_000;
const stopTimeoutMilliseconds = 2_000;

/**
 * Runs the DynamoDB engine (dynoxide, an SQLite-backed binary) on a free loopback port and creates the template's
 * tables that are missing. `directory` holds its file; undefined keeps everything in memory.
 *
 * AWS_ENDPOINT_URL_DYNAMODB in this process's environment names another server to use instead, for example
 * DynamoDB Local. All requests reach it with the access key id "local" (front.ts), so it needs no `-sharedDb`.
 * @throws Error if there is no engine for this platform, if it does not start, or if the data on disk belongs to another table layout.
 */
export async function startDynamodb(settings: {
  readonly assembly: Assembly;
  readonly directory: string | undefined;
  /** Called if the engine ends without having been asked to. */
  readonly onUnexpectedEnd?: (reason: string) => void;
}): Promise<DynamodbServer> {
  const given = process.env.AWS_ENDPOINT_URL_DYNAMODB;
  const server: DynamodbServer = given
    ? { endpoint: given, close: async () => {} }
    : await startEngine(settings.directory, settings.onUnexpectedEnd ?? (() => {}));
  try {
    await createTables(settings.assembly, server.endpoint);
  } catch (error) {
    await server.close();
    throw error;
  }
  return server;
}

async function startEngine(
  directory: string | undefined,
  onUnexpectedEnd: (reason: string) => void,
): Promise<DynamodbServer> {
  const binary = findEngine();
  const file = directory === undefined ? undefined : join(directory, "dynamodb.sqlite");
  const storage = file === undefined ? [] : ["--db-path", file];
  if (directory !== undefined) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  }
  // The engine does not say which port it got for --port 0, so we choose one, and choose again should another process
  // take it in between.
  for (let attempt = 1; ; attempt += 1) {
    const port = await findFreePort();
    const child = spawnUnderWatch(binary, [
      "serve",
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
      ...storage,
    ]);
    if (await waitUntilListening(child, port)) {
      let isClosing = false;
      child.once("exit", (code, signal) => {
        if (!isClosing) {
          onUnexpectedEnd(`The DynamoDB engine ended unexpectedly (${signal ?? `exit status ${code}`}).`);
        }
      });
      return {
        endpoint: `http://127.0.0.1:${port}`,
        engineProcessId: child.pid,
        close: async () => {
          isClosing = true;
          await end(child);
        },
      };
    }
    await end(child);
    if (attempt === 3) {
      throw new Error(
        `The DynamoDB engine does not start${file === undefined ? "." : ` with ${file}: restore that file, or choose other data with --data DIR.`}`,
      );
    }
  }
}

function findEngine(): string {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const binary = join(manifest, "..", process.platform === "win32" ? "dynoxide.exe" : "dynoxide");
    if (existsSync(binary)) {
      return binary;
    }
  } catch {
    // Not installed: same answer as for a package without the binary.
  }
  throw new Error(
    `There is no DynamoDB engine for this platform (npm package ${name}). Install it, or start another ` +
      "DynamoDB-compatible server and name it in AWS_ENDPOINT_URL_DYNAMODB.",
  );
}

/**
 * Starts a program that ends when this process does, however it ends: a watcher shell reads a pipe whose other end
 * only we hold, and kills the program when it closes, which the operating system does for us even after `kill -9`.
 * The program replaces the outer shell, so the child's pid and exit status are its own.
 */
function spawnUnderWatch(program: string, args: string[]): ChildProcess {
  const script = 'exec 3<&0; (cat <&3 >/dev/null; kill -9 $$ 2>/dev/null) & exec "$@" 3<&- </dev/null';
  return spawn("/bin/sh", ["-c", script, "sh", program, ...args], {
    stdio: ["pipe", "ignore", "ignore"],
    // Ctrl-C in a terminal goes to the whole process group; the engine has to outlive the functions that use it.
    detached: true,
  });
}

async function waitUntilListening(child: ChildProcess, port: number): Promise<boolean> {
  const deadline = Date.now() + startTimeoutMilliseconds;
  while (Date.now() < deadline && child.exitCode === null && child.signalCode === null) {
    if (await canConnect(port)) {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMilliseconds);
    await exited;
    clearTimeout(timer);
  }
  child.stdin?.destroy();
}

async function createTables(assembly: Assembly, endpoint: string): Promise<void> {
  const client = new DynamoDBClient({
    endpoint,
    region: assembly.region,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  try {
    for (const type of ["AWS::DynamoDB::Table", "AWS::DynamoDB::GlobalTable"]) {
      for (const { logicalId, properties } of assembly.ofType<TableProperties>(type)) {
        await createTable(client, assembly.physicalId(logicalId), properties);
      }
    }
  } finally {
    client.destroy();
  }
}

async function createTable(client: DynamoDBClient, name: string, properties: TableProperties): Promise<void> {
  const found = await describeTable(client, name);
  if (found === undefined) {
    await client.send(
      new CreateTableCommand({
        TableName: name,
        BillingMode: "PAY_PER_REQUEST",
        AttributeDefinitions: properties.AttributeDefinitions,
        KeySchema: properties.KeySchema,
        GlobalSecondaryIndexes: properties.GlobalSecondaryIndexes?.map(pickIndex),
      }),
    );
    const timeToLive = properties.TimeToLiveSpecification;
    if (timeToLive?.Enabled) {
      await client.send(
        new UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification: timeToLive }),
      );
    }
    return;
  }
  if (describeKeys(found.KeySchema) !== describeKeys(properties.KeySchema)) {
    throw new Error(
      `The table ${name} on disk has other keys than the template. Start with another --data directory.`,
    );
  }
  const present = new Set(found.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName));
  for (const index of properties.GlobalSecondaryIndexes ?? []) {
    if (!present.has(index.IndexName)) {
      await client.send(
        new UpdateTableCommand({
          TableName: name,
          AttributeDefinitions: properties.AttributeDefinitions,
          GlobalSecondaryIndexUpdates: [{ Create: pickIndex(index) }],
        }),
      );
    }
  }
}

async function describeTable(client: DynamoDBClient, name: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) {
      return undefined;
    }
    throw error;
  }
}

/** The template's index without what only CloudFormation knows (throughput settings, insights). */
function pickIndex({ IndexName, KeySchema, Projection }: GlobalSecondaryIndex): GlobalSecondaryIndex {
  return { IndexName, KeySchema, Projection };
}

function describeKeys(keys: KeySchemaElement[] | undefined): string {
  return JSON.stringify(keys?.map(({ AttributeName, KeyType }) => [KeyType, AttributeName]).sort());
}
