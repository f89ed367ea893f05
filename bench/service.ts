/** The real local service on a seeded table, with a meter between it and the engine. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAssembly } from "../local/assembly.ts";
import { startDynamodb } from "../local/dynamodb.ts";
import { synthesize } from "../local/synthesis.ts";
import { dueIndex, keys } from "../shared/table/keys.ts";
import { type Meter, type Seen, startMeter } from "../test/service/meter.ts";
import { type LocalService, startService } from "../test/service/run.ts";
import { type Api, createApi } from "./api.ts";
import type { Context } from "./arm.ts";
import { createDatabase } from "./database.ts";
import { type Seeded, type Size, seed, sizeOf } from "./seed.ts";

export type Bench = {
  seeded: Seeded;
  api: Api;
  meter: Meter;
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
    process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  }
  return scratch;
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

export type Database = { directory: string; seeded: Seeded };

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
  const { seeded, rows } = seed(size, { isScanned });
  await createDatabase(directory, options.assemblyDirectory ?? (await assembly()), {
    rows: rows(),
    of: seeded.rowCount,
    progress,
  });
  return { directory, seeded };
};

/**
 * Starts engine, meter and service. `countsWorkers` false: only what API requests do is metered, not what schedules and
 * queues do meanwhile.
 */
export const startBench = async (
  { directory, seeded }: Database,
  options: { hibpUrl?: string; countsWorkers?: boolean; assemblyDirectory?: string } = {},
): Promise<Bench> => {
  const assemblyDirectory = options.assemblyDirectory ?? (await assembly());
  const opened = openAssembly(assemblyDirectory, { region: "us-east-1", accountId: "000000000000" });
  const engine = await startDynamodb({ assembly: opened, directory });
  const meter = await startMeter(engine.endpoint, options.countsWorkers ? {} : { isBackground: workers() });
  const service = await startService(
    ["--memory", ...(options.hibpUrl === undefined ? [] : ["--hibp-url", options.hibpUrl])],
    { AWS_ENDPOINT_URL_DYNAMODB: meter.url },
    assemblyDirectory,
  );
  const api = createApi(service.apiUrl, seeded.apiKeys);
  return {
    seeded,
    api,
    meter,
    service,
    engine: { url: engine.endpoint, processId: engine.engineProcessId ?? 0 },
    assembly: assemblyDirectory,
    close: async () => {
      await api.close();
      await service.stop();
      await meter.close();
      await engine.close();
    },
  };
};

/** No request of the API reads the due index or the upstream's rows, nor renews a scan's lock, as its workers do first. */
const workers = (): ((seen: Seen) => boolean) => {
  const own = [keys.limiter().pk, keys.breachNames().pk];
  let scanBegan = 0;
  return ({ operation, input }) => {
    if (input.IndexName === dueIndex.name) return true;
    const text = JSON.stringify(input);
    if (own.some((pk) => text.includes(`"${pk}"`))) return true;
    if (operation === "UpdateItem" && text.includes(`"${keys.scanLock(1).sk}"`)) scanBegan = Date.now();
    return Date.now() - scanBegan < workerMilliseconds;
  };
};

/** What is asked within this time of a scan's last sign of life is the scan's. */
const workerMilliseconds = 1_500;
