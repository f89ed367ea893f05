/** CPU time of the processes of a local run. They come from /proc, which only Linux has. */
import { readdirSync, readFileSync } from "node:fs";

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // The process has ended.
  }
};

/** Ids of a process and all its descendants, parents first. */
export const treeOf = (processId: number): number[] => {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    // The second field is the command in parentheses, which may itself contain spaces and parentheses.
    const [, parent] = /^\d+ \(.*\) \S (\d+) /s.exec(read(`/proc/${name}/stat`)) ?? [];
    if (parent !== undefined)
      children.set(Number(parent), [...(children.get(Number(parent)) ?? []), Number(name)]);
  }
  const below = (id: number): number[] => [id, ...(children.get(id) ?? []).flatMap(below)];
  return below(processId);
};

/** CPU time of all threads since the process started. */
export const cpuMilliseconds = (processId: number): number => {
  let threads: string[] = [];
  try {
    threads = readdirSync(`/proc/${processId}/task`);
  } catch {
    return 0; // The process has ended.
  }
  const nanoseconds = threads.map((thread) =>
    Number(read(`/proc/${processId}/task/${thread}/schedstat`).split(" ")[0] ?? 0),
  );
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
};

/** Whether any thread of a process is running, ready to run, or waiting for the disk. */
export const isRunning = (processId: number): boolean => {
  let threads: string[] = [];
  try {
    threads = readdirSync(`/proc/${processId}/task`);
  } catch {
    return false; // The process has ended.
  }
  return threads.some((thread) => /^\d+ \(.*\) [RD] /s.test(read(`/proc/${processId}/task/${thread}/stat`)));
};
