/** CPU time of the processes of a local run. They come from /proc, which only Linux has. */
import { readdirSync, readFileSync } from "node:fs";

const read = (path: string): string => {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return ""; // The process has ended.
  }
};

/** This file of each thread of a process. */
const ofThreads = (processId: number, file: string): string[] => {
  try {
    return readdirSync(`/proc/${processId}/task`).map((thread) =>
      read(`/proc/${processId}/task/${thread}/${file}`),
    );
  } catch {
    return []; // The process has ended.
  }
};

/** Ids of a process and all its descendants, parents first. */
export const treeOf = (processId: number): number[] => [
  processId,
  ...ofThreads(processId, "children").flatMap((text) =>
    (text.match(/\d+/g) ?? []).map(Number).flatMap(treeOf),
  ),
];

/** CPU time of all threads since the process started. */
export const cpuMilliseconds = (processId: number): number =>
  ofThreads(processId, "schedstat").reduce((sum, text) => sum + Number(text.split(" ")[0]), 0) / 1e6;

/** Whether any thread of a process is running, ready to run, or waiting for the disk. */
export const isRunning = (processId: number): boolean =>
  ofThreads(processId, "stat").some((text) => /^\d+ \(.*\) [RD] /s.test(text));
