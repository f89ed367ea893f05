import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { tableOf } from "./database.ts";
import { functionsOf } from "./functions.ts";
import type { Called, Calls } from "./handler-loop.ts";
import { quantile } from "./measure.ts";
import { startReplay } from "./replay.ts";
import type { Bench } from "./service.ts";

export type Handler = {
  /**
   * Of warm calls, each a mean of a round. `least`: what the handler takes, since whatever else the machine does only adds.
   * `path`: below /api/v1, with its query.
   */
  cpuMilliseconds: (path: string) => Promise<{ least: number; median: number }>;
  close: () => Promise<void>;
};

/** After some hundred calls V8 has compiled what is hot; the first calls take about three times as much. */
const warmCalls = 800;
const rounds = 7;
const callsPerRound = 50;

/**
 * The handler of an endpoint that only reads, alone in a process with the memory that Lambda gives Node.js, and with the
 * table's replies replayed (replay.ts): what its process computes is then its own.
 */
export const startHandler = async (bench: Bench, name: string): Promise<Handler> => {
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
  const call = async (event: object, times: number): Promise<number> => {
    child.send({ event, times } satisfies Calls);
    const [called] = (await once(child, "message")) as [Called];
    if ("failed" in called) throw new Error(`${name} answered ${JSON.stringify(called.failed)}`);
    return called.cpuMilliseconds;
  };
  return {
    cpuMilliseconds: async (path) => {
      const event = eventOf(bench, path);
      await call(event, warmCalls);
      const means: number[] = [];
      for (let round = 0; round < rounds; round++) means.push(await call(event, callsPerRound));
      return { least: Math.min(...means), median: quantile(means, 0.5) };
    },
    close: async () => {
      child.kill();
      await replay.close();
    },
  };
};

/** What a handler reads of API Gateway's event. */
const eventOf = ({ seeded }: Bench, path: string): object => {
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
        organizationId: String(seeded.org),
        actorType: "api_key",
        actorId: "1",
        actorLabel: "bench",
      },
    },
  };
};
