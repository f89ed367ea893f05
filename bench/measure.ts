import type { Call, Reply } from "./api.ts";
import type { Cell } from "./arm.ts";
import { functionsOf } from "./functions.ts";
import { dollarsPerMillion } from "./prices.ts";
import { cpuMilliseconds, instancesOf } from "./processes.ts";
import type { Bench } from "./service.ts";

/** What one call costs, its authorizer included. */
export type Measured = {
  /** Round trips to the table, one after the other. */
  trips: number;
  readUnits: number;
  writeUnits: number;
  requests: number;
  bytes: number;
  /**
   * CPU time of the function's process for one warm call. Undefined without timed calls, as are the next
   * three.
   */
  cpuMilliseconds: number | undefined;
  /** Median of the time from request to reply, in milliseconds. */
  p50: number | undefined;
  /** 99th percentile of the same time. */
  p99: number | undefined;
  /** Dollars of a million calls. */
  dollars: number | undefined;
  reply: Reply;
};

export type Measuring = {
  /** The name of its function in functions/routes.ts. */
  function: string;
  /** Call 0 is counted, the others are timed. */
  call: (index: number) => Call;
  /** The status that every reply must have. */
  status: number;
  timedCalls: number;
  /** Messages that the call sends to a queue; sending them is one round trip. */
  messages?: number | undefined;
  /** Called with every reply. */
  replied?: ((reply: Reply, index: number) => void) | undefined;
  /** Awaited after every call, and not measured. */
  after?: ((bench: Bench, reply: Reply) => Promise<unknown>) | undefined;
};

/** The share of the timed calls that come first and are not counted in CPU time. */
const warmPart = 0.4;

/** @throws Error when a reply has another status than expected. */
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
  "Round trips",
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

/** The value below which this part (0 to 1) of all values lies. */
export const quantile = (values: readonly number[], part: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
};

/** Rounds to one decimal. */
export const round = (value: number): number => Math.round(value * 10) / 10;

/** A sentence on whether a value keeps to its target; empty without a value. */
export const verdict = (what: string, value: number | undefined, most: number): string =>
  value === undefined ? "" : `${what} ≤ ${most} ${value <= most ? "met" : "MISSED"}`;
