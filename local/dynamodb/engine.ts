/** The DynamoDB engine of local runs: dynoxide, a binary that keeps its data in SQLite. */
import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { join } from "node:path";
import { findFreePort } from "../loopback.ts";
import { endWatched, isRunning, spawnWatched } from "./watched-process.ts";

export type Engine = {
  endpoint: string;
  processId: number | undefined;
  close(): Promise<void>;
};

const startTimeoutMilliseconds = 5_000;
const startAttempts = 3;
/** Only one request at a time uses the engine's file. Further threads wait for each other: with them writes take 1.4 times as long. */
const oneThread = { TOKIO_WORKER_THREADS: "1" };

/**
 * Starts the engine on a free port. `directory` holds its file; undefined keeps everything in memory. Rejects
 * if there is no engine for this platform, or if it does not start.
 */
export const startEngine = async (
  directory: string | undefined,
  onUnexpectedEnd: (reason: string) => void,
): Promise<Engine> => {
  const binary = findBinary();
  const file = directory === undefined ? undefined : join(directory, "dynamodb.sqlite");
  if (directory !== undefined) await mkdir(directory, { recursive: true, mode: 0o700 });
  // The engine does not say which port it got for --port 0. So a free one is chosen here, and another one if
  // a process takes it in between.
  for (let attempt = 1; attempt <= startAttempts; attempt += 1) {
    const port = await findFreePort();
    const storage = file === undefined ? [] : ["--db-path", file];
    const serve = ["serve", "--host", "127.0.0.1", "--port", String(port), ...storage];
    const child = spawnWatched(binary, serve, oneThread);
    if (await isListening(child, port)) return watchEngine(child, port, onUnexpectedEnd);
    await endWatched(child);
  }
  throw new Error(
    `The DynamoDB engine does not start${file === undefined ? "." : ` with ${file}: restore that file, or choose other data with --data DIR.`}`,
  );
};

const watchEngine = (
  child: ChildProcess,
  port: number,
  onUnexpectedEnd: (reason: string) => void,
): Engine => {
  let isClosing = false;
  child.once("exit", (code, signal) => {
    if (isClosing) return;
    onUnexpectedEnd(`The DynamoDB engine ended unexpectedly (${signal ?? `exit status ${code}`}).`);
  });
  return {
    endpoint: `http://127.0.0.1:${port}`,
    processId: child.pid,
    close: async () => {
      isClosing = true;
      await endWatched(child);
    },
  };
};

/** The package exports no path to its binary, so this relies on where the package of a platform has it. */
const findBinary = (): string => {
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const binary = join(manifest, "..", process.platform === "win32" ? "dynoxide.exe" : "dynoxide");
    if (existsSync(binary)) return binary;
  } catch {
    // The package is not installed, which gets the same answer as a package without the binary.
  }
  throw new Error(
    `There is no DynamoDB engine for this platform (npm package ${name}). Install it, or start another ` +
      "DynamoDB-compatible server and name it in AWS_ENDPOINT_URL_DYNAMODB.",
  );
};

const isListening = async (child: ChildProcess, port: number): Promise<boolean> => {
  const deadline = Date.now() + startTimeoutMilliseconds;
  while (Date.now() < deadline && isRunning(child)) {
    if (await canConnect(port)) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
};

const canConnect = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
