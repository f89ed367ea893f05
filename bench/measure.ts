import { setTimeout } from "node:timers/promises";
import { instancesOf } from "../local/harness/chaos.ts";
import type { Call, Reply } from "./api.ts";
import type { Cell } from "./arm.ts";
import { dollarsPerMillion } from "./prices.ts";
import { cpuMilliseconds } from "./processes.ts";
import type { Bench } from "./service.ts";
import { resourcesOf } from "./stack.ts";

/** A call of one endpoint. */
export type Measuring = {
  name: string;
  call: () => Call;
  /** The status that every reply must have. */
  status: number;
  /** Awaited before the call, and not measured. */
  before?: () => Promise<unknown>;
  replied?: (reply: Reply) => void;
  /** Awaited after the call, and not measured. */
  after?: (bench: Bench, reply: Reply) => Promise<unknown>;
};

/** What one call costs, its authorizer included. `trips`: round trips to the table, one after the other. */
export type Counted = { trips: number; readUnits: number; writeUnits: number };

/** @throws Error when the reply has another status than expected. */
export const count = async (
  bench: Bench,
  { call, status, before, replied, after }: Omit<Measuring, "name">,
): Promise<Counted> => {
  await before?.();
  const asked = call();
  const { trips, readUnits, writeUnits, result } = await bench.meter.trips(() => bench.api.send(asked));
  if (result.status !== status) {
    throw new Error(
      `${asked.method} ${asked.path} answered ${result.status}, not ${status}: ${JSON.stringify(result.body)}`,
    );
  }
  replied?.(result);
  await after?.(bench, result);
  return { trips, readUnits, writeUnits };
};

/** Calls before the counted ones: V8 still compiles. */
const warmCalls = 20;
const countedCalls = 9;

/**
 * CPU time for one warm call of the process of `worker`: the function's name in functions/routes.ts or
 * dashboard-routes.ts.
 */
export const cpuOf = async (bench: Bench, worker: string, call: () => Call): Promise<number> => {
  const cpu = async (): Promise<number> => {
    const instances = await instancesOf(bench.service.process.pid ?? 0);
    const ofFunction = instances.filter((each) => each.worker === worker);
    return ofFunction.reduce((sum, { pid }) => sum + cpuMilliseconds(pid), 0);
  };
  let before = 0;
  for (let index = 0; index < warmCalls + countedCalls; index++) {
    if (index === warmCalls) before = await cpu();
    await bench.api.send(call());
  }
  return ((await cpu()) - before) / countedCalls;
};

/** Dollars of a million such calls. */
export const dollarsOf = (bench: Bench, counted: Counted): number =>
  dollarsPerMillion({ ...counted, megabytes: resourcesOf(bench.assembly).endpointMegabytes });

/** The columns of `countedCells`, which tests compare with the stored figures. */
export const countedColumns = ["Round trips", "Read units", "Write units"];

export const countedCells = ({ trips, readUnits, writeUnits }: Counted): Cell[] => [
  trips,
  readUnits,
  writeUnits,
];

/** The value below which this part (0 to 1) of all values lies. */
export const quantile = (values: readonly number[], part: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
};

/** Rounds to one decimal. */
export const round = (value: number): number => Math.round(value * 10) / 10;

/** A sentence on whether a value keeps to its target. */
export const verdict = (what: string, value: number, most: number): string =>
  `${what} ≤ ${most} ${value <= most ? "met" : "MISSED"}`;

/** Looks again and again whether it is so. Throws when it is not after so many minutes of waiting for `what`. */
export const until = async (
  isSo: () => boolean | Promise<boolean>,
  { minutes, what }: { minutes: number; what: string },
): Promise<void> => {
  for (const deadline = Date.now() + minutes * 60_000; !(await isSo()); await setTimeout(100)) {
    if (Date.now() > deadline) throw new Error(`Waited more than ${minutes} minutes for ${what}`);
  }
};
