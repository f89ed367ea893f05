/** Measures on a local run what the cost of a month multiplies with prices. */
import { setTimeout } from "node:timers/promises";
import { type HibpServer, startHibpServer } from "../../local/harness/hibp-server.ts";
import { startReceiver } from "../../local/harness/receiver.ts";
import { scans } from "../../shared/scanning/record.ts";
import type { Call } from "../api.ts";
import type { Context } from "../arm.ts";
import { setCatalog } from "../catalog.ts";
import { committing, previewing, rowCount } from "../import.ts";
import { scanEnds } from "../operations.ts";
import type { Units } from "../prices.ts";
import { type Logs, openLogs, type Run } from "../runs.ts";
import { upstreamBreach } from "../seed/breaches.ts";
import { accountsOf } from "../seed/findings.ts";
import { seed } from "../seed/seed.ts";
import type { Size } from "../seed/shape.ts";
import { assembly, type Bench, type Database, makeDatabase, startBench } from "../service.ts";
import { type Resources, resourcesOf } from "../stack.ts";
import { storedBytes } from "../stored-bytes.ts";
import { catalogSize, mix } from "./assumptions.ts";

/** What functions did: their runs, the units of the table that they consumed, and what they logged. */
export type Work = Units & { runs: Run[]; logBytes: number };

/** One call of the mix on average, its authorizer included. */
export type AverageCall = Units & {
  sentBytes: number;
  gigabyteSeconds: number;
  logBytes: number;
  /** Memory-time of starting an instance. */
  startGigabyteSeconds: number;
};

/**
 * `imported`: units for each imported address; `storedBytes`: of the whole table, by DynamoDB's rules for
 * sizes.
 */
export type Measurements = {
  dailyScan: Work;
  firstScan: Work;
  call: AverageCall;
  imported: Units;
  storedBytes: number;
  resources: Resources;
};

export const gigabyteSecondsOf = (runs: readonly Run[]): number =>
  runs.reduce((sum, run) => sum + run.gigabyteSeconds, 0);

/**
 * Measures an organization of this size. `scheduled`: functions that schedules run, which are no part of a
 * scan.
 */
export const measureOrganization = async (
  size: Size,
  scheduled: ReadonlySet<string>,
  { progress }: Context,
): Promise<Measurements> => {
  const name = `cost of ${size.addresses.toLocaleString("en-US")} addresses`;
  const database = await makeDatabase(`cost-${size.addresses}`, size, { progress });
  const hibp = await startUpstream(size, database.seeded.domains);
  try {
    progress(`${name}: a daily scan`);
    const dailyScan = await measureDailyScan(database, hibp, scheduled);
    progress(`${name}: calls`);
    const { call, imported } = await measureCalls(database, hibp);
    const empty = await makeDatabase(`cost-new-${size.addresses}`, size, { progress, isScanned: false });
    progress(`${name}: the first scan`);
    const firstScan = await measureFirstScan(empty, hibp, scheduled);
    return {
      dailyScan,
      firstScan,
      call,
      imported,
      storedBytes: storedBytes(seed(size).rows()),
      resources: resourcesOf(await assembly()),
    };
  } finally {
    await hibp.close();
  }
};

const startUpstream = async (size: Size, covered: readonly string[]): Promise<HibpServer> =>
  Object.assign(await startHibpServer(), {
    accounts: accountsOf(size),
    catalog: Array.from({ length: catalogSize }, (_, index) => upstreamBreach(index + 1)),
    covered,
  });

/** How many times faster time passes, so that an hour of schedules takes a minute. */
const speed = 60;

/**
 * What the schedules do in an hour in which nothing is due. It does not depend on the size: they read only
 * what is due.
 */
export const measureQuietHour = async ({ progress }: Context): Promise<Work> => {
  const size = { addresses: 10, findings: 30 };
  const database = await makeDatabase("cost-quiet", size, { progress });
  const hibp = await startUpstream(size, database.seeded.domains);
  const bench = await startBench(database, {
    hibpUrl: hibp.url,
    countsWorkers: true,
    furtherOptions: ["--speed", String(speed)],
  });
  try {
    progress("cost of a quiet hour: a minute");
    const logs = await openLogs(bench);
    // The first sync finds the whole catalog new, so the hour begins after the second one. Four syncs, one
    // every 15 minutes, make an hour.
    await logs.until("sync-catalog", 2);
    bench.meter.take();
    logs.take();
    await logs.until("sync-catalog", 4);
    const { runs, bytes: logBytes } = logs.take();
    return { ...takeUnits(bench), runs, logBytes };
  } finally {
    await bench.close();
    await hibp.close();
  }
};

const takeUnits = ({ meter }: Bench): Units => {
  const { readUnits, writeUnits } = meter.take();
  return { readUnits, writeUnits };
};

/** One scan, from its request until the alerts of its end are delivered. */
const measureScan = async (
  bench: Bench,
  { scheduled, alerts }: { scheduled: ReadonlySet<string>; alerts: number },
): Promise<Work> => {
  const logs = await openLogs(bench);
  // The schedules run everything once at the start, which is no part of the scan.
  for (const name of scheduled) await logs.until(name, 1);
  bench.meter.take();
  logs.take();
  const { body } = await bench.api.send({ method: "POST", path: "/scans" });
  const ended = await scanEnds(bench, Number(body.scanJobId));
  if (scans.groupOf(ended).status !== "completed") {
    throw new Error(`The scan did not complete: ${JSON.stringify(ended)}`);
  }
  await logs.until("deliver-alert", alerts);
  // The function that wrote the scan's end still has to return.
  await setTimeout(1_000);
  const { runs, bytes: logBytes } = logs.take((name) => !scheduled.has(name));
  return { ...takeUnits(bench), runs, logBytes };
};

/** A scan that finds nothing new and tells one webhook so. */
const measureDailyScan = async (
  database: Database,
  hibp: HibpServer,
  scheduled: ReadonlySet<string>,
): Promise<Work> => {
  const receiver = await startReceiver();
  const bench = await startBench(database, {
    hibpUrl: hibp.url,
    countsWorkers: true,
    furtherOptions: ["--allow-origin", receiver.origin],
  });
  try {
    const { status } = await bench.api.send({
      method: "POST",
      path: "/alert-configs",
      body: { channel: "webhook", config: { url: `${receiver.origin}/hook` }, notifyOnScanComplete: true },
    });
    if (status !== 201) throw new Error(`POST /alert-configs answered ${status}, not 201`);
    return await measureScan(bench, { scheduled, alerts: 1 });
  } finally {
    await bench.close();
    await receiver.close();
  }
};

/** The first scan of addresses that were just imported. */
const measureFirstScan = async (
  database: Database,
  hibp: HibpServer,
  scheduled: ReadonlySet<string>,
): Promise<Work> => {
  const bench = await startBench(database, { hibpUrl: hibp.url, countsWorkers: true });
  try {
    return await measureScan(bench, { scheduled, alerts: 0 });
  } finally {
    await bench.close();
  }
};

const measureCalls = async (database: Database, hibp: HibpServer) => {
  const bench = await startBench(database, { hibpUrl: hibp.url });
  try {
    // At a thousand calls a day most instances have just started and have no breach in memory.
    await setCatalog(bench, "changing");
    const call = await averageOfCalls(bench, await openLogs(bench));
    return { call, imported: await averageOfImport(bench) };
  } finally {
    await bench.close();
  }
};

const timedCalls = 8;

const averageOfCalls = async (bench: Bench, logs: Logs): Promise<AverageCall> => {
  const average = { readUnits: 0, writeUnits: 0, sentBytes: 0, gigabyteSeconds: 0, logBytes: 0 };
  const starts: number[] = [];
  const { body } = await bench.api.send({ method: "GET", path: "/breaches?acknowledged=false&limit=20" });
  const unacknowledged = (body.breaches as { id: number }[]).map(({ id }) => id);
  for (const { share, call, function: endpoint } of mix) {
    const next = (): Call =>
      call.method === "POST" ? { ...call, body: { id: unacknowledged.pop() } } : call;
    const takesPart = (name: string): boolean => name === endpoint || name === "authorize";
    const part = share / 100;
    const { readUnits, writeUnits, result } = await bench.measure(next());
    if (result.status !== 200) {
      throw new Error(`${call.method} ${call.path} answered ${result.status}, not 200`);
    }
    const firstRuns = logs.take(takesPart).runs.map(({ startGigabyteSeconds }) => startGigabyteSeconds);
    starts.push(...firstRuns.filter((each) => each > 0));
    for (let times = 0; times < timedCalls; times++) await bench.api.send(next());
    const { runs, bytes } = logs.take(takesPart);
    average.readUnits += part * readUnits;
    average.writeUnits += part * writeUnits;
    average.sentBytes += part * Buffer.byteLength(JSON.stringify(result.body));
    average.gigabyteSeconds += (part * gigabyteSecondsOf(runs)) / timedCalls;
    average.logBytes += (part * bytes) / timedCalls;
  }
  const startGigabyteSeconds = starts.reduce((sum, each) => sum + each, 0) / starts.length;
  return { ...average, startGigabyteSeconds };
};

const averageOfImport = async (bench: Bench): Promise<Units> => {
  const preview = await bench.measure(previewing(0));
  const commit = await bench.measure(committing(preview.result));
  if (commit.result.status !== 200) {
    throw new Error(`The commit of the import answered ${commit.result.status}, not 200`);
  }
  return {
    readUnits: (preview.readUnits + commit.readUnits) / rowCount,
    writeUnits: (preview.writeUnits + commit.writeUnits) / rowCount,
  };
};
