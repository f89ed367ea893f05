import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** SQLite's result code when somebody else has the lock. */
const sqliteBusy = 5;

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
 * @throws Error with one sentence when another run has it, or when it can't be made or written to.
 */
export function openDataDirectory(path: string | undefined): DataDirectory {
  if (path === undefined) {
    const temporary = mkdtempSync(join(tmpdir(), "breach-monitor-"));
    return { path: temporary, kept: undefined, close: () => removeAssembly(temporary) };
  }
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new Error(
      `The data directory ${path} can't be made (${(error as Error).message}): choose another with --data DIR.`,
    );
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
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;");
    return database;
  } catch (error) {
    database?.close();
    const { errcode, message } = error as Error & { readonly errcode?: number };
    throw new Error(
      errcode === sqliteBusy
        ? `The data in ${directory} is in use by another run: stop that one, or choose other data with --data DIR or --memory.`
        : `The data directory ${directory} can't be used, since ${file} can't be locked (${message}): choose another with --data DIR, or --memory.`,
    );
  }
}
