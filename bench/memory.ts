import type { Table } from "./arm.ts";
import { functionsOf } from "./functions.ts";
import { verdict } from "./measure.ts";
import { functionOf, megabytes, peakMegabytes, treeOf } from "./processes.ts";
import type { Bench } from "./service.ts";

/**
 * Samples the memory of these processes and their descendants until `stop`, which returns the most that all
 * took together (`megabytes`) and the most that an instance of each function took, by the function's full
 * name.
 */
export const watchMemory = (
  processIds: readonly number[],
  everyMilliseconds = 500,
): { stop: () => { megabytes: number; functions: Map<string, number> } } => {
  let most = 0;
  const functions = new Map<string, number>();
  const sample = (): void => {
    const ids = processIds.flatMap(treeOf);
    most = Math.max(
      most,
      ids.reduce((sum, id) => sum + megabytes(id), 0),
    );
    for (const id of ids) {
      const name = functionOf(id);
      if (name !== undefined) functions.set(name, Math.max(functions.get(name) ?? 0, peakMegabytes(id)));
    }
  };
  const timer = setInterval(sample, everyMilliseconds);
  return {
    stop: () => {
      clearInterval(timer);
      sample();
      return { megabytes: most, functions };
    },
  };
};

/** The peaks of watchMemory as a table. An empty Node.js process takes about 45 MB. */
export const memoryTable = (bench: Pick<Bench, "assembly">, peaks: ReadonlyMap<string, number>): Table => {
  const infos = [...functionsOf(bench.assembly).values()];
  return {
    title: "Memory of the functions that took part",
    columns: ["Function", "Peak MB", "MB in the template", "Target"],
    rows: [...peaks]
      .sort(([, a], [, b]) => b - a)
      .map(([fullName, megabytes]) => {
        const info = infos.find((each) => each.fullName === fullName);
        const most = info?.name === "plan-scan" ? 1024 : 256;
        return [
          info?.name ?? fullName,
          Math.round(megabytes),
          info?.megabytes ?? null,
          verdict("MB", megabytes, most),
        ];
      }),
    notes: ["Peak resident memory of an instance's process, Node.js included."],
  };
};
