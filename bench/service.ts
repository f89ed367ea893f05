/** The real local service on a seeded table, with a meter between it and the engine. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onDemandWorkers, queueWorkers, scheduledWorkers } from "../functions/workers.ts";
import { startDynamodb } from "../local/dynamodb/dynamodb.ts";
import type { HibpServer } from "../local/harness/hibp-server.ts";
import { type Meter, startMeter } from "../local/harness/meter.ts";
import { type LocalService, startService } from "../local/harness/service.ts";
import { synthesize } from "../local/synthesis.ts";
import { type Api, createApi } from "./api.ts";
import type { Context } from "./arm.ts";
import { createDatabase, openedAssembly } from "./database.ts";
import { isRunning, treeOf } from "./processes.ts";
import { type Seeded, seed } from "./seed/seed.ts";
import type { Size } from "./seed/shape.ts";
import { type Accounts, startUpstream } from "./upstream.ts";

export type Bench = {
  seeded: Seeded;
  api: Api;
  hibp: HibpServer;
  meter: Meter;
  service: LocalService;
  engineUrl: string;
  assembly: string;
  close: () => Promise<void>;
};

let scratch: string | undefined;

/** A directory that is removed when this process ends. */
const scratchDirectory = (): string => {
  if (scratch === undefined) {
    const made = mkdtempSync(join(tmpdir(), "bench-"));
    scratch = made;
    process.once("exit", removeScratch);
  }
  return scratch;
};

/** Removes the directory before this process ends, as tests do. */
export const removeScratch = (): void => {
  if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
  scratch = undefined;
};

let synthesized: Promise<string> | undefined;

/** Directory of the synthesized stack; synthesized once for each process. */
export const assembly = (): Promise<string> => {
  synthesized ??= synthesizeWith("assembly", {
    senderEmail: "alerts@seeded.example",
    requestsPerSecond: "10000",
  });
  return synthesized;
};

/** Directory of the stack with these options of a deployment; `name` must be new in this process. */
export const synthesizeWith = async (name: string, context: Record<string, string>): Promise<string> => {
  const directory = join(scratchDirectory(), name);
  await synthesize(directory, context, new AbortController().signal);
  return directory;
};

/** A seeded table of the stack in `assembly`: the directory of its data, and what it holds. */
export type Database = { directory: string; assembly: string; seeded: Seeded };

/**
 * Makes a seeded table. `name` must be new in this process. `assemblyDirectory`: of a stack that is
 * synthesized already.
 */
export const makeDatabase = async (
  name: string,
  size: Size,
  options: { progress: Context["progress"]; isScanned?: boolean; assemblyDirectory?: string },
): Promise<Database> => {
  const directory = join(scratchDirectory(), name);
  mkdirSync(directory);
  const { isScanned = true, progress, assemblyDirectory = await assembly() } = options;
  const { seeded, rows } = seed(size, isScanned);
  await createDatabase(directory, assemblyDirectory, { rows: rows(), of: seeded.rowCount, progress });
  return { directory, assembly: assemblyDirectory, seeded };
};

/**
 * Starts engine, meter, HIBP server and service. `countsWorkers`: the meter also counts what schedules and
 * queues invoke; without it, only API requests are counted. Rows then have their attributes in order, so that
 * CPU time can be measured (meter.ts). `accounts`: of the HIBP server. `furtherOptions`: of `npm start`.
 */
export const startBench = async (
  { directory, assembly, seeded }: Database,
  options: { accounts?: Accounts; countsWorkers?: boolean; furtherOptions?: readonly string[] } = {},
): Promise<Bench> => {
  const opened = openedAssembly(assembly);
  const engine = await startDynamodb({ assembly: opened, directory });
  const hibp = await startUpstream(options.accounts ?? {});
  // No API request waits for these.
  const workers = new Set(
    [...queueWorkers, ...scheduledWorkers, ...onDemandWorkers].map(
      ({ name }) => `${opened.stackName}-${name}`,
    ),
  );
  let serviceId = 0;
  const meter = await startMeter(engine.endpoint, {
    ...(options.countsWorkers !== true && { isBackground: (id) => workers.has(id), ordersAttributes: true }),
    ...(process.platform === "linux" && { isBusy: () => isAnyRunning(serviceId) }),
  });
  const service = await startService(
    ["--memory", "--hibp-url", hibp.url, ...(options.furtherOptions ?? [])],
    { AWS_ENDPOINT_URL_DYNAMODB: meter.url },
    assembly,
  );
  serviceId = service.process.pid ?? 0;
  // The service ends with this process, even if nobody calls `close`. The engine ends by itself.
  const end = (): void => {
    service.process.kill();
  };
  process.once("exit", end);
  const api = createApi(service.apiUrl, seeded.apiKeys, seeded.session);
  await api.warm();
  return {
    seeded,
    api,
    hibp,
    meter,
    service,
    engineUrl: engine.endpoint,
    assembly,
    close: async () => {
      await api.close();
      await service.stop();
      process.off("exit", end);
      await Promise.all([meter.close(), engine.close(), hibp.close()]);
    },
  };
};

/**
 * Whether any process of the service has something to do. Looks at instances before the service itself: a
 * request that an instance has sent in between still keeps the service busy.
 */
const isAnyRunning = (serviceId: number): boolean => treeOf(serviceId).reverse().some(isRunning);
