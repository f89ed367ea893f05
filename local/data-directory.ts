import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Where a run puts its files. */
export interface DataDirectory {
  readonly path: string;
  /** The same path if data is to be kept, else undefined. */
  readonly kept: string | undefined;
  close(): void;
}

/**
 * Opens a run's data directory for this process alone; undefined makes a temporary one that is not kept. The lock is one of
 * the operating system's, so that it ends with the process even after `kill -9`.
 * @throws Error with one sentence when another run has it, or when it can't be made.
 */
export function openDataDirectory(path: string | undefined): DataDirectory {
  if (path === undefined) {
    const temporary = mkdtempSync(join(tmpdir(), "breach-monitor-"));
    return { path: temporary, kept: undefined, close: () => removeAssembly(temporary) };
  }
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(`The data directory ${path} can't be made: ${(error as Error).message}.`);
  }
  const lock = lockFile(join(path, "lock"), path);
  return {
    path,
    kept: path,
    close: () => {
      removeAssembly(path);
      lock.close();
    },
  };
}

/** Where a run's cloud assembly goes. It is removed, so nobody else's folder may have this name. */
export function assemblyPath(dataPath: string): string {
  return join(dataPath, ".breach-monitor-assembly");
}

function removeAssembly(dataPath: string): void {
  rmSync(assemblyPath(dataPath), { recursive: true, force: true });
}

function lockFile(file: string, directory: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;");
    return database;
  } catch {
    database.close();
    throw new Error(
      `The data in ${directory} is in use by another run: stop that one, or choose other data with --data DIR or --memory.`,
    );
  }
}
