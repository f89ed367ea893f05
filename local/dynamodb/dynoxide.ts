/** dynoxide: an engine that keeps its data in SQLite. npm has its binary for Linux x64. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { EngineProgram } from "./engine.ts";
import { spawnWatched } from "./watched-process.ts";

/**
 * Only one request at a time uses the engine's file. Further threads wait for each other: with them writes
 * take 1.4 times as long.
 */
const oneThread = { TOKIO_WORKER_THREADS: "1" };

export const findDynoxide = async (): Promise<EngineProgram | undefined> => {
  const binary = findBinary();
  if (binary === undefined) return undefined;
  return {
    file: "dynamodb.sqlite",
    startTimeoutMilliseconds: 5_000,
    spawn: (port, file) => {
      const storage = file === undefined ? [] : ["--db-path", file];
      return spawnWatched(
        binary,
        ["serve", "--host", "127.0.0.1", "--port", String(port), ...storage],
        oneThread,
      );
    },
  };
};

/** The package exports no path to its binary, so this relies on where the package of a platform has it. */
const findBinary = (): string | undefined => {
  try {
    const manifest = createRequire(import.meta.url).resolve(
      `@dynoxide/${process.platform}-${process.arch}/package.json`,
    );
    const binary = join(manifest, "..", "dynoxide");
    return existsSync(binary) ? binary : undefined;
  } catch {
    return undefined;
  }
};
