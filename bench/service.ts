/** The real local service on a seeded table, with a meter between it and the engine. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onDemandWorkers, queueWorkers, scheduledWorkers } from "../functions/workers.ts";
import { openAssembly } from "../local/assembly.ts";
import { startDynamodb } from "../local/dynamodb.ts";
import { synthesize } from "../local/synthesis.ts";
import { type Consumed, type Meter, startMeter } from "../test/service/meter.ts";
import { type LocalService, startService } from "../test/service/run.ts";
import { type Api, type Call, createApi, type Reply } from "./api.ts";
import type { Context } from "./arm.ts";
import { createDatabase } from "./database.ts";
import { functionsOf } from "./functions.ts";
import { isRunning, treeOf } from "./processes.ts";
import { type Seeded, type Size, seed, sizeOf } from "./seed.ts";

export type Bench = {
  seeded: Seeded;
  api: Api;
  meter: Meter;
  /** Makes one request and says what it, its authorizer included, costs. */
  measure: (call: Call) => Promise<Consumed & { trips: number; result: Reply }>;
  service: LocalService;
  engine: { url: string; processId: number };
  assembly: string;
  close: () => Promise<void>;
};

let scratch: string | undefined;

/** A directory that is gone when the benchmark ends. */
const scratchDirectory = (): string => {
  if (scratch === undefined) {
    const made = mkdtempSync(join(tmpdir(), "bench-"));
    scratch = made;
    process.once("exit", removeScratch);
  }
  return scratch;
};

/** For those that do not end with their process. */
export const removeScratch = (): void => {
  if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true });
  scratch = undefined;
};

let synthesized: Promise<string> | undefined;

/** The stack as it is now, synthesized once for the whole run. */
export const assembly = (): Promise<string> => {
  synthesized ??= (async () => {
    const directory = join(scratchDirectory(), "assembly");
    await synthesize(directory, { senderEmail: "alerts@seeded.example" }, new AbortController().signal);
    return directory;
  })();
  return synthesized;
};

/** `rows`: how many it has; `seconds`: what making it took. */
export type Database = { directory: string; seeded: Seeded; rows: number; seconds: number };

const databases = new Map<number, Promise<Database>>();

/** A seeded table with this many findings; made once in a run. What an arm writes to it, the next arm finds there. */
export const seededDatabase = (findings: number, progress: Context["progress"]): Promise<Database> => {
  let database = databases.get(findings);
  if (database === undefined) {
    database = makeDatabase(`seeded-${findings}`, sizeOf(findings), { progress });
    databases.set(findings, database);
  }
  return database;
};

export const makeDatabase = async (
  name: string,
  size: Size,
  options: { progress: Context["progress"]; isScanned?: boolean; assemblyDirectory?: string },
): Promise<Database> => {
  const directory = join(scratchDirectory(), name);
  mkdirSync(directory);
  const { isScanned = true, progress } = options;
  const assemblyDirectory = options.assemblyDirectory ?? (await assembly());
  const begin = performance.now();
  const { seeded, rows } = seed(size, { isScanned });
  const written = await createDatabase(directory, assemblyDirectory, {
    rows: rows(),
    of: seeded.rowCount,
    progress,
  });
  return { directory, seeded, rows: written, seconds: (performance.now() - begin) / 1_000 };
};

/**
 * Starts engine, meter and service, with these further options of `npm start`. `countsWorkers` false: only what API requests
 * do is metered, not what schedules and queues do meanwhile; and their CPU time counts, so rows come with their attributes in
 * order (meter.ts). `keepsInstances`: none is ended to save memory, so that what it computed can be read from its process.
 */
export const startBench = async (
  { directory, seeded }: Database,
  options: {
    hibpUrl?: string;
    countsWorkers?: boolean;
    keepsInstances?: boolean;
    assemblyDirectory?: string;
    further?: readonly string[];
  } = {},
): Promise<Bench> => {
  const assemblyDirectory = options.assemblyDirectory ?? (await assembly());
  const opened = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
  const engine = await startDynamodb({ assembly: opened, directory });
  const workers = workersOf(assemblyDirectory);
  let serviceId = 0;
  const meter = await startMeter(engine.endpoint, {
    ...(options.countsWorkers !== true && { isBackground: (id) => workers.has(id), ordersAttributes: true }),
    ...(process.platform === "linux" && { isBusy: () => isAnyRunning(serviceId) }),
  });
  const service = await startService(
    [
      "--memory",
      ...(options.hibpUrl === undefined ? [] : ["--hibp-url", options.hibpUrl]),
      ...(options.further ?? []),
    ],
    {
      AWS_ENDPOINT_URL_DYNAMODB: meter.url,
      ...(options.keepsInstances === true && { LOCAL_KEPT_MEGABYTES: "65536" }),
    },
    assemblyDirectory,
  );
  serviceId = service.process.pid ?? 0;
  // However this process ends; the engine watches for that itself.
  const end = (): void => {
    service.process.kill();
  };
  process.once("exit", end);
  const api = createApi(service.apiUrl, seeded.apiKeys);
  return {
    seeded,
    api,
    meter,
    measure: (call) => meter.trips(() => api.send(call)),
    service,
    engine: { url: engine.endpoint, processId: engine.engineProcessId ?? 0 },
    assembly: assemblyDirectory,
    close: async () => {
      await api.close();
      await service.stop();
      process.off("exit", end);
      await meter.close();
      await engine.close();
    },
  };
};

/** Instances first: what one of them has sent is then on its way through the service itself, or through. */
const isAnyRunning = (serviceId: number): boolean => treeOf(serviceId).reverse().some(isRunning);

/** Functions that no request waits for: the meter leaves out what they do meanwhile. */
const workersOf = (assemblyDirectory: string): ReadonlySet<string> => {
  const functions = functionsOf(assemblyDirectory);
  return new Set(
    [...queueWorkers, ...scheduledWorkers, ...onDemandWorkers].map(({ name }) => {
      const info = functions.get(name);
      if (info === undefined) throw new Error(`There is no function ${name}`);
      return info.fullName;
    }),
  );
};
