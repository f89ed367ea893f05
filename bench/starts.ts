import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDynamodb } from "../local/dynamodb/dynamodb.ts";
import { startBehavingDynamodb } from "../local/harness/behaving-dynamodb.ts";
import { openAssembly } from "../local/template/assembly.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { asSlowAsDynamodb } from "./contended.ts";
import { tableOf } from "./database.ts";
import { functionsOf } from "./functions.ts";
import { eventOf } from "./handler.ts";
import { quantile, verdict } from "./measure.ts";
import { price } from "./prices.ts";
import { assembly, seededDatabase } from "./service.ts";
import type { Invoked } from "./starts-function.mjs";

const sizes = [256, 512, 1_024, 1_536] as const;
/** Lambda gives a whole core at this size, and to smaller ones in proportion. */
const megabytesOfCore = 1_769;
/** What people wait for: `path` as in handler.ts. */
const lists = [
  { function: "list-breaches", path: "/breaches?limit=50" },
  { function: "list-emails", path: "/emails?limit=50" },
  { function: "list-activity", path: "/activity?limit=50" },
] as const;
const starts = 5;
const warmCalls = 20;
const mostColdMilliseconds = 600;
const mostWarmMilliseconds = 60;

/** A group of processes that together get a share of a core. */
type Quota = { file: string; close: () => void };

/** Undefined where processes cannot be limited; their CPU time is then converted. */
const quotaOf = (megabytes: number): Quota | undefined => {
  const directory = `/sys/fs/cgroup/cpu/breach-monitor-${process.pid}-${megabytes}`;
  try {
    mkdirSync(directory);
    writeFileSync(join(directory, "cpu.cfs_period_us"), "20000");
    const quota = Math.round((20_000 * megabytes) / megabytesOfCore);
    writeFileSync(join(directory, "cpu.cfs_quota_us"), String(quota));
  } catch {
    return undefined;
  }
  return { file: join(directory, "cgroup.procs"), close: () => rmdirSync(directory) };
};

type Surroundings = {
  directory: string;
  megabytes: number;
  quota: Quota | undefined;
  environment: Record<string, string>;
};

/** Milliseconds of the first call, the process's start included, and of each later one. */
const measureStart = async (
  { directory, megabytes, quota, environment }: Surroundings,
  event: object,
): Promise<{ cold: number; warm: number[] }> => {
  const enter = quota === undefined ? "" : `echo $$ > ${quota.file} && `;
  const begin = Date.now();
  const child = spawn(
    "sh",
    [
      ...["-c", `${enter}exec "$@"`, "sh", process.execPath],
      ...[`--max-old-space-size=${Math.round(0.9 * megabytes)}`],
      ...[join(import.meta.dirname, "starts-function.mjs"), join(directory, "index.js")],
    ],
    { env: { ...process.env, ...environment }, stdio: ["ignore", "ignore", "inherit", "ipc"] },
  );
  const convert = (wall: number, cpu: number): number =>
    quota === undefined ? wall - cpu + cpu * Math.max(1, megabytesOfCore / megabytes) : wall;
  const call = async (since: number): Promise<number> => {
    child.send(event);
    const [invoked] = (await once(child, "message")) as [Invoked];
    if ("failed" in invoked) throw new Error(`A function answered ${JSON.stringify(invoked.failed)}`);
    return convert(invoked.endedAt - since, invoked.cpuMilliseconds);
  };
  try {
    await once(child, "message");
    const cold = await call(begin);
    const warm: number[] = [];
    for (let count = 0; count < warmCalls; count++) warm.push(await call(Date.now()));
    return { cold, warm };
  } finally {
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }
};

const run = async ({ progress }: Context): Promise<Table[]> => {
  const database = await seededDatabase(1_000, progress);
  const directory = await assembly();
  const opened = openAssembly(directory, { region: "us-east-1", accountId: "000000000000" });
  const functions = functionsOf(directory);
  const engine = await startDynamodb({ assembly: opened, directory: database.directory });
  const table = await startBehavingDynamodb(engine.endpoint, asSlowAsDynamodb);
  const environment = {
    TABLE_NAME: tableOf(directory).name,
    AWS_REGION: "us-east-1",
    AWS_ENDPOINT_URL_DYNAMODB: table.url,
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
  };
  const { org, apiKeys } = database.seeded;
  const authorization = {
    methodArn: "arn:aws:execute-api:us-east-1:000000000000:api/prod/GET/breaches",
    resource: "/v1/breaches",
    httpMethod: "GET",
    headers: { Authorization: `Bearer ${apiKeys[0]}` },
    multiValueHeaders: { Authorization: [`Bearer ${apiKeys[0]}`] },
    requestContext: { requestId: "bench", identity: { sourceIp: "192.0.32.8" } },
  };
  const rows: Cell[][] = [];
  let isLimited = false;
  try {
    for (const megabytes of sizes) {
      const quota = quotaOf(megabytes);
      isLimited = quota !== undefined;
      const measured = async (name: string, event: object) => {
        const info = functions.get(name);
        if (info === undefined) throw new Error(`There is no function ${name}`);
        const all: Awaited<ReturnType<typeof measureStart>>[] = [];
        for (let count = 0; count < starts; count++) {
          progress(`starts: ${name} with ${megabytes} MB`, count, starts);
          all.push(await measureStart({ directory: info.directory, megabytes, quota, environment }, event));
        }
        return {
          cold: quantile(
            all.map(({ cold }) => cold),
            0.5,
          ),
          warm: quantile(
            all.flatMap(({ warm }) => warm),
            0.5,
          ),
        };
      };
      const dollars = (milliseconds: number): string =>
        (1e6 * (milliseconds / 1_000) * (megabytes / 1_024) * price.gigabyteSecond).toFixed(2);
      try {
        const authorizer = await measured("authorize", authorization);
        for (const list of lists) {
          const own = await measured(list.function, eventOf(org, list.path));
          const cold = Math.round(authorizer.cold + own.cold);
          const warm = Math.round(authorizer.warm + own.warm);
          rows.push([
            megabytes,
            list.function,
            Math.round(authorizer.cold),
            Math.round(own.cold),
            cold,
            warm,
            dollars(warm),
            dollars(cold),
            [verdict("cold", cold, mostColdMilliseconds), verdict("warm", warm, mostWarmMilliseconds)].join(
              ", ",
            ),
          ]);
        }
      } finally {
        quota?.close();
      }
    }
  } finally {
    await table.close();
    await engine.close();
  }
  return [
    {
      title: "First and later requests by the memory of functions",
      columns: [
        "MB",
        "Endpoint",
        "Authorizer cold ms",
        "Endpoint cold ms",
        "Cold request ms",
        "Warm request ms",
        "$/million warm",
        "$/million cold",
        "Targets",
      ],
      rows,
      notes: [
        `Each function in a process with the share of a core that Lambda gives for its memory${isLimited ? ", enforced by a quota of Linux" : ": computed from its CPU time, since this machine sets no quotas"}; medians of ${starts} starts, the start of Node.js included, and of ${warmCalls} calls after each. The table takes 4 ms for a read and 8 for a write. A request is the authorizer's call and then the endpoint's; API Gateway's own time, and Lambda's for an instance, are not in it. Dollars: memory-time of both functions.`,
      ],
    },
  ];
};

export const startsOfFunctions: Arm = {
  name: "starts",
  about: "First requests to functions that have just started, by memory",
  run,
};
