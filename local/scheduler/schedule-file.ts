/** The file that keeps schedules made through the API from one run to the next. */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Schedule, StoredSchedule } from "./schedule.ts";

export type ScheduleFile = {
  path: string;
  /** Empty if there is no file yet. Rejects if it is not JSON or cannot be read. */
  read(): Promise<StoredSchedule[]>;
  /** Resolves when all schedules to be kept are on disk as they are now. */
  save(): Promise<void>;
  /** Saves after a moment, together with other changes. */
  saveSoon(): void;
};

const saveDelayMilliseconds = 500;

/** `directory` undefined: nothing is kept. */
export const openScheduleFile = async (options: {
  directory: string | undefined;
  schedules: () => Schedule[];
  report: (line: string) => void;
}): Promise<ScheduleFile> => {
  const { directory, schedules, report } = options;
  if (directory !== undefined) await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory ?? "", "schedules.json");
  let saving: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const save = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    saving = saving.then(async () => {
      if (directory !== undefined) await write(path, schedules());
    });
    return saving;
  };

  return {
    path,
    read: async () => (directory === undefined ? [] : read(path)),
    save,
    saveSoon: () => {
      timer ??= setTimeout(() => {
        save().catch((error) => report(`The schedules could not be saved: ${error.message}`));
      }, saveDelayMilliseconds);
    },
  };
};

const read = async (path: string): Promise<StoredSchedule[]> => {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
};

const write = async (path: string, schedules: Schedule[]): Promise<void> => {
  const stored = schedules
    .filter(({ isKept }) => isKept)
    .map(
      ({ name, group, definition, createdAt, modifiedAt, handledUntil }): StoredSchedule => ({
        name,
        group,
        definition,
        createdAt,
        modifiedAt,
        handledUntil,
      }),
    );
  await writeFile(`${path}.new`, JSON.stringify(stored, null, 1), { mode: 0o600 });
  await rename(`${path}.new`, path);
};
