import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { tableOf } from "./database.ts";
import { functionsOf } from "./functions.ts";
import type { Called, Calls } from "./handler-loop.ts";
import { quantile } from "./measure.ts";
import { startReplay } from "./replay.ts";
import type { Bench } from "./service.ts";

/** A GET request: `function` as in functions/routes.ts, `path` with its query, relative to /api/v1. */
export type HandlerCall = { function: string; path: string };

/**
 * CPU milliseconds of one warm call: the least and the median of the rounds' means. The least is the
 * handler's own time, since other work of the machine can only add to it.
 */
export type HandlerCpu = { least: number; median: number };

/** V8 has compiled the hot code after some hundred calls; before, a call takes about three times as long. */
const warmCalls = 800;
const rounds = 11;
const callsPerRound = 50;

export const handlerCpuNote = `CPU ms: one call of the handler alone in a process, all threads included, on this machine, after ${warmCalls} calls (the first calls take about three times as long): the least and the median of ${rounds} rounds of ${callsPerRound} calls. The least is the better measure, since other work of the machine can only add. The table's replies are replayed, so that the engine does not compute in the same caches. Rows have their attributes in one order: the engine shuffles them for every row, which costs V8 several times the CPU time and which DynamoDB has no reason to do.`;

/**
 * CPU time of the handlers for each of these calls, in the same order; the endpoints must only read. Every
 * function runs alone in a process with the memory that Lambda gives Node.js, and the table's replies are
 * replayed (replay.ts), so that the process computes nothing else. Each round takes all calls in turn, so
 * that a slow minute does not fall on one call.
 */
export const handlerCpu = async (
  bench: Bench,
  calls: readonly HandlerCall[],
  progress: (done: number, of: number) => void,
): Promise<HandlerCpu[]> => {
  const handlers = new Map<string, Handler>();
  try {
    const means: number[][] = calls.map(() => []);
    for (let round = 0; round <= rounds; round++) {
      for (const [index, call] of calls.entries()) {
        progress(round * calls.length + index, (rounds + 1) * calls.length);
        const handler = handlers.get(call.function) ?? (await startHandler(bench, call.function));
        handlers.set(call.function, handler);
        const event = eventOf(bench.seeded.org, call.path);
        if (round === 0) await handler.call(event, warmCalls);
        else means[index]?.push(await handler.call(event, callsPerRound));
      }
    }
    return means.map((each) => ({ least: Math.min(...each), median: quantile(each, 0.5) }));
  } finally {
    for (const handler of handlers.values()) await handler.close();
  }
};

type Handler = { call: (event: object, times: number) => Promise<number>; close: () => Promise<void> };

const startHandler = async (bench: Bench, name: string): Promise<Handler> => {
  const info = functionsOf(bench.assembly).get(name);
  if (info === undefined) throw new Error(`There is no function ${name}`);
  const replay = await startReplay(bench.meter.url);
  const child = fork(join(import.meta.dirname, "handler-loop.ts"), [join(info.directory, "index.js")], {
    execArgv: [
      `--max-old-space-size=${Math.round(0.9 * info.megabytes)}`,
      `--max-semi-space-size=${Math.round(0.05 * info.megabytes)}`,
    ],
    env: {
      ...process.env,
      TABLE_NAME: tableOf(bench.assembly).name,
      AWS_REGION: "us-east-1",
      AWS_ENDPOINT_URL_DYNAMODB: replay.url,
      AWS_ACCESS_KEY_ID: name,
      AWS_SECRET_ACCESS_KEY: "local",
    },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return {
    call: async (event, times) => {
      child.send({ event, times } satisfies Calls);
      const [called] = (await once(child, "message")) as [Called];
      if ("failed" in called) throw new Error(`${name} answered ${JSON.stringify(called.failed)}`);
      return called.cpuMilliseconds;
    },
    close: async () => {
      child.kill();
      await replay.close();
    },
  };
};

/** The part of API Gateway's event that handlers read. */
export const eventOf = (org: number, path: string): object => {
  const { searchParams } = new URL(path, "http://localhost");
  return {
    multiValueQueryStringParameters: Object.fromEntries(
      [...searchParams].map(([name, value]) => [name, [value]]),
    ),
    requestContext: {
      requestId: "bench",
      httpMethod: "GET",
      requestTimeEpoch: Date.now(),
      authorizer: {
        organizationId: String(org),
        actorType: "api_key",
        actorId: "1",
        actorLabel: "bench",
      },
    },
  };
};
