import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** SQLite's result code (SQLITE_BUSY) when another process has the lock. */
const sqliteBusy = 5;

/** The directory that a run puts its files into. */
export type DataDirectory = {
  path: string;
  /** The same path if data is kept, else undefined. */
  kept: string | undefined;
  close(): void;
};

/**
 * Opens a run's data directory for this process alone; undefined makes a temporary one. The operating system
 * holds the lock, so that it ends with the process even after `kill -9`. Throws an error with one sentence
 * when another run has the lock, or the directory can't be written to.
 */
export const openDataDirectory = (path: string | undefined): DataDirectory => {
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
};

/** The directory of a run's cloud assembly. It is removed at the end, so its name must be nobody else's. */
export const assemblyPath = (dataPath: string): string => join(dataPath, ".breach-monitor-assembly");

const removeAssembly = (dataPath: string): void => {
  rmSync(assemblyPath(dataPath), { recursive: true, force: true });
};

const lockFile = (file: string, directory: string): DatabaseSync => {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;");
    return database;
  } catch (error) {
    database?.close();
    const { errcode, message } = error as Error & { errcode?: number };
    throw new Error(
      errcode === sqliteBusy
        ? `The data in ${directory} is in use by another run: stop that one, or choose other data ` +
            "with --data DIR or --memory."
        : `The data directory ${directory} can't be used, since ${file} can't be locked ` +
            `(${message}): choose another with --data DIR, or --memory.`,
    );
  }
};
