import type { Call, Reply } from "./api.ts";
import type { Cell } from "./arm.ts";
import { dollarsPerMillion } from "./dollars.ts";
import { functionsOf } from "./functions.ts";
import { cpuMilliseconds, instancesOf } from "./processes.ts";
import type { Bench } from "./service.ts";

export type Measured = {
  trips: number;
  readUnits: number;
  writeUnits: number;
  requests: number;
  bytes: number;
  /** Of the function alone, of calls that are warm; undefined without timed calls. */
  cpuMilliseconds: number | undefined;
  p50: number | undefined;
  p99: number | undefined;
  dollars: number | undefined;
  reply: Reply;
};

export type Measuring = {
  /** Of its endpoint, as in functions/routes.ts. */
  function: string;
  /** The call to count, and then those to time, each with its number from 0. */
  call: (index: number) => Call;
  status: number;
  timedCalls: number;
  /** Messages that it sends to a queue, one trip together. */
  messages?: number | undefined;
  /** Told about every reply. */
  replied?: ((reply: Reply, index: number) => void) | undefined;
  /** Waited for after every call, by itself not measured. */
  after?: ((bench: Bench, reply: Reply) => Promise<unknown>) | undefined;
};

/** Calls before CPU time is counted, as part of all. */
const warmPart = 0.4;

export const measure = async (bench: Bench, measuring: Measuring): Promise<Measured> => {
  const { timedCalls, status, messages = 0 } = measuring;
  const check = (reply: Reply, index: number): void => {
    if (reply.status !== status) {
      const { method, path } = measuring.call(index);
      throw new Error(
        `${method} ${path} answered ${reply.status}, not ${status}: ${JSON.stringify(reply.body)}`,
      );
    }
    measuring.replied?.(reply, index);
  };
  const counted = await bench.measure(measuring.call(0));
  check(counted.result, 0);
  await measuring.after?.(bench, counted.result);

  const info = functionsOf(bench.assembly).get(measuring.function);
  if (info === undefined) throw new Error(`There is no function ${measuring.function}`);
  const cpu = (): number => {
    const instances = instancesOf(bench.service.process.pid ?? 0);
    const ids = [...instances].filter(([name]) => name === info.fullName).flatMap(([, each]) => each);
    return ids.reduce((sum, id) => sum + cpuMilliseconds(id), 0);
  };
  const times: number[] = [];
  const warmCalls = Math.floor(timedCalls * warmPart);
  let spent = 0;
  for (let index = 1; index <= timedCalls; index++) {
    const before = cpu();
    const reply = await bench.api.send(measuring.call(index));
    if (index > warmCalls) spent += cpu() - before;
    check(reply, index);
    times.push(reply.milliseconds);
    await measuring.after?.(bench, reply);
  }
  const p50 = timedCalls === 0 ? undefined : quantile(times, 0.5);
  const { trips, readUnits, writeUnits, requests, bytes, result } = counted;
  return {
    trips: trips + (messages > 0 ? 1 : 0),
    readUnits,
    writeUnits,
    requests,
    bytes,
    cpuMilliseconds: timedCalls === 0 ? undefined : spent / (timedCalls - warmCalls),
    p50,
    p99: timedCalls === 0 ? undefined : quantile(times, 0.99),
    dollars:
      p50 === undefined
        ? undefined
        : dollarsPerMillion({
            readUnits,
            writeUnits,
            messages,
            milliseconds: p50,
            megabytes: info.megabytes,
          }),
    reply: result,
  };
};

export const measuredColumns = [
  "Trips",
  "Read units",
  "Write units",
  "Requests",
  "KB",
  "CPU ms",
  "p50 ms",
  "p99 ms",
  "$/million",
];

export const measuredCells = (measured: Measured): Cell[] => [
  measured.trips,
  measured.readUnits,
  measured.writeUnits,
  measured.requests,
  round(measured.bytes / 1024),
  ...[measured.cpuMilliseconds, measured.p50, measured.p99, measured.dollars].map((value) =>
    value === undefined ? null : round(value),
  ),
];

export const quantile = (values: readonly number[], part: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
};

/** To one place behind the point. */
export const round = (value: number): number => Math.round(value * 10) / 10;

/** Says of a value whether it keeps to its target. */
export const verdict = (what: string, value: number | undefined, most: number): string =>
  value === undefined ? "" : `${what} ≤ ${most} ${value <= most ? "met" : "MISSED"}`;
