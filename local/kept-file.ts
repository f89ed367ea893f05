/** A file of a data directory that keeps JSON from one run to the next, readable to its owner alone. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";

export type KeptFile<Content> = {
  path: string;
  /** Undefined if there is no file yet. Rejects if it is not JSON or cannot be read. */
  read(): Promise<Content | undefined>;
  /** Resolves when what `content` gives is on disk as it is now. */
  save(): Promise<void>;
};

/** `directory` undefined: nothing is kept. */
export const openKeptFile = async <Content>(
  directory: string | undefined,
  name: string,
  content: () => Content,
): Promise<KeptFile<Content>> => {
  if (directory === undefined) return { path: name, read: async () => undefined, save: async () => {} };
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, name);
  let saving: Promise<void> = Promise.resolve();
  const write = async (): Promise<void> => {
    await writeFile(`${path}.new`, JSON.stringify(content(), null, 1), { mode: 0o600 });
    await rename(`${path}.new`, path);
  };
  return {
    path,
    read: async () => {
      try {
        return JSON.parse(await readFile(path, "utf8"));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
        throw error;
      }
    },
    save: () => {
      // Also after a write that failed, as on a disk that was full for a moment.
      saving = saving.catch(() => {}).then(write);
      return saving;
    },
  };
};
