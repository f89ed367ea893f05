import { setTimeout } from "node:timers/promises";
import type { Call, Reply } from "./api.ts";
import type { Cell } from "./arm.ts";
import { functionsOf } from "./functions.ts";
import { dollarsPerMillion } from "./prices.ts";
import { cpuMilliseconds, instancesOf } from "./processes.ts";
import type { Bench } from "./service.ts";

/** A call of one endpoint, made several times. */
export type Measuring = {
  name: string;
  /** The name of its function in functions/routes.ts or functions/dashboard-routes.ts. */
  function: string;
  /** Call 0 is counted, the others are timed. */
  call: (index: number) => Call;
  /** The status that every reply must have. */
  status: number;
  timedCalls: number;
  /** Called with every reply. */
  replied?: (reply: Reply, index: number) => void;
  /** Awaited after every call, and not measured. */
  after?: (bench: Bench, reply: Reply) => Promise<unknown>;
};

/** What one call costs, its authorizer included. `trips`: round trips to the table, one after the other. */
export type Counted = { trips: number; readUnits: number; writeUnits: number; reply: Reply };

/** CPU time of the function's process and the median time from request to reply. */
export type Timed = { cpuMilliseconds: number; p50: number };

/** @throws Error when the reply has another status than expected. */
export const count = async (bench: Bench, measuring: Measuring): Promise<Counted> => {
  const { trips, readUnits, writeUnits, result } = await bench.measure(measuring.call(0));
  await take(bench, measuring, { reply: result, index: 0 });
  return { trips, readUnits, writeUnits, reply: result };
};

const take = async (
  bench: Bench,
  { call, status, replied, after }: Measuring,
  { reply, index }: { reply: Reply; index: number },
): Promise<void> => {
  if (reply.status !== status) {
    const { method, path } = call(index);
    throw new Error(
      `${method} ${path} answered ${reply.status}, not ${status}: ${JSON.stringify(reply.body)}`,
    );
  }
  replied?.(reply, index);
  await after?.(bench, reply);
};

/** The share of the timed calls that come first and are not counted in CPU time: V8 still compiles. */
const warmPart = 0.4;

export const time = async (bench: Bench, measuring: Measuring): Promise<Timed> => {
  const { name } = functionOf(bench, measuring);
  const cpu = (): number => {
    const ids = instancesOf(bench.service.process.pid ?? 0).get(name) ?? [];
    return ids.reduce((sum, id) => sum + cpuMilliseconds(id), 0);
  };
  const times: number[] = [];
  const warmCalls = Math.floor(measuring.timedCalls * warmPart);
  let spent = 0;
  for (let index = 1; index <= measuring.timedCalls; index++) {
    const before = cpu();
    const reply = await bench.api.send(measuring.call(index));
    if (index > warmCalls) spent += cpu() - before;
    await take(bench, measuring, { reply, index });
    times.push(reply.milliseconds);
  }
  return { cpuMilliseconds: spent / (measuring.timedCalls - warmCalls), p50: quantile(times, 0.5) };
};

const functionOf = (bench: Bench, measuring: Measuring) => {
  const info = functionsOf(bench.assembly).get(measuring.function);
  if (info === undefined) throw new Error(`There is no function ${measuring.function}`);
  return info;
};

/** Dollars of a million such calls. */
export const dollarsOf = (bench: Bench, measuring: Measuring, measured: Counted & Timed): number =>
  dollarsPerMillion({
    readUnits: measured.readUnits,
    writeUnits: measured.writeUnits,
    milliseconds: measured.p50,
    megabytes: functionOf(bench, measuring).memoryMegabytes,
  });

/** The columns of `countedCells`, which tests compare with what is stored. */
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
