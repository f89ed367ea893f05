/** The DynamoDB engine of local runs, as a process of its own. */
import type { ChildProcess } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findFreePort } from "../loopback.ts";
import { findDynamodbLocal } from "./dynamodb-local.ts";
import { findDocker } from "./dynamodb-local-container.ts";
import { findDynoxide } from "./dynoxide.ts";
import { endWatched, isRunning } from "./watched-process.ts";

export type Engine = {
  endpoint: string;
  /** Undefined when AWS_ENDPOINT_URL_DYNAMODB names the server. */
  processId: number | undefined;
  close(): Promise<void>;
};

/** A way to run an engine on this machine. */
export type EngineProgram = {
  /** What holds its data below a run's data directory. */
  file: string;
  startTimeoutMilliseconds: number;
  /** Starts it on this port of 127.0.0.1. Without `file` it keeps everything in memory. */
  spawn: (port: number, file: string | undefined) => ChildProcess;
};

/** By preference. Each looks for its program, and gives undefined where this machine cannot run it. */
const engines = { dynoxide: findDynoxide, java: findDynamodbLocal, docker: findDocker } as const;

const noEngine = `No DynamoDB engine was found. On Linux x64 "npm ci" installs one, \
unless optional dependencies are left out.
Elsewhere install Java 17 or newer: AWS's DynamoDB Local is then fetched from Maven Central.
Or start Docker, which then runs the image amazon/dynamodb-local.`;

/**
 * The first engine that this machine can run; the variable DYNAMODB_ENGINE (dynoxide, java or docker) demands
 * one. Fetches missing files of DynamoDB Local. Rejects with the ways to get an engine.
 */
export const findEngine = async (): Promise<EngineProgram> => {
  const wanted = process.env.DYNAMODB_ENGINE;
  for (const [name, find] of Object.entries(engines)) {
    const program = wanted === undefined || wanted === name ? await find() : undefined;
    if (program !== undefined) return program;
  }
  throw new Error(noEngine);
};

const startAttempts = 3;

/**
 * Starts the engine on a free port. `directory` holds its data; undefined keeps everything in memory. Rejects
 * if this machine has no engine, or if it does not start.
 */
export const startEngine = async (
  directory: string | undefined,
  onUnexpectedEnd: (reason: string) => void = () => {},
): Promise<Engine> => {
  const program = await findEngine();
  const file = directory === undefined ? undefined : join(directory, program.file);
  if (directory !== undefined) await mkdir(directory, { recursive: true, mode: 0o700 });
  // Engines do not say which port they got for port 0. So a free one is chosen here, and another one if a
  // process takes it in between.
  for (let attempt = 1; attempt <= startAttempts; attempt += 1) {
    const port = await findFreePort();
    const child = program.spawn(port, file);
    const endpoint = `http://127.0.0.1:${port}`;
    if (await answers(child, endpoint, program.startTimeoutMilliseconds)) {
      return watchEngine(child, endpoint, onUnexpectedEnd);
    }
    await endWatched(child);
  }
  throw new Error(
    "The DynamoDB engine does not " +
      `start${file === undefined ? "." : ` with ${file}: restore that file, or choose other data with --data DIR.`}`,
  );
};

const watchEngine = (
  child: ChildProcess,
  endpoint: string,
  onUnexpectedEnd: (reason: string) => void,
): Engine => {
  let isClosing = false;
  child.once("exit", (code, signal) => {
    if (isClosing) return;
    onUnexpectedEnd(`The DynamoDB engine ended unexpectedly (${signal ?? `exit status ${code}`}).`);
  });
  return {
    endpoint,
    processId: child.pid,
    close: async () => {
      isClosing = true;
      await endWatched(child);
    },
  };
};

/** Engines check no signature, but want one. */
const listTables = {
  method: "POST",
  headers: {
    "content-type": "application/x-amz-json-1.0",
    "x-amz-target": "DynamoDB_20120810.ListTables",
    "x-amz-date": "20300101T000000Z",
    authorization:
      "AWS4-HMAC-SHA256 Credential=local/20300101/us-east-1/dynamodb/aws4_request, " +
      "SignedHeaders=host, Signature=0",
  },
  body: "{}",
};

/**
 * Whether it answers as DynamoDB in time: another server may have taken the port. Docker accepts connections
 * before the engine in the container does.
 */
const answers = async (
  child: ChildProcess,
  endpoint: string,
  timeoutMilliseconds: number,
): Promise<boolean> => {
  const deadline = Date.now() + timeoutMilliseconds;
  while (Date.now() < deadline && isRunning(child)) {
    try {
      const reply = await fetch(endpoint, {
        ...listTables,
        signal: AbortSignal.timeout(timeoutMilliseconds),
      });
      await reply.body?.cancel();
      return reply.ok;
    } catch {
      await pause(10);
    }
  }
  return false;
};
