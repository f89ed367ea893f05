import { setTimeout } from "node:timers/promises";
import { type HibpServer, startHibpServer } from "../local/harness/hibp-server.ts";
import type { Consumed } from "../local/harness/meter.ts";
import { notedKinds, refresh } from "../shared/lists/notes.ts";
import { scans as scanRows } from "../shared/scanning/record.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { scanWithChannels } from "./contended-scans.ts";
import { tableOf } from "./database.ts";
import { keepingEnvironment } from "./environment.ts";
import { round, verdict } from "./measure.ts";
import { memoryTable, watchMemory } from "./memory.ts";
import { scanEnds } from "./operations.ts";
import { dollarsForUnits } from "./prices.ts";
import { addressOf } from "./seed/addresses.ts";
import { breachName, upstreamCatalog } from "./seed/breaches.ts";
import { type Bench, makeDatabase, startBench } from "./service.ts";

const addresses = 100_000;
const breachesEach = 4;
const newFindings = 500;
/** The last worker has ended when the table sees no request for this long; workers pause for less. */
const quietMilliseconds = 2_000;
/** A breach without any address until the last scan. */
const newBreach = breachName(420);

/** Address to the names of its breaches, before the last scan. */
const accounts = (): Record<string, string[]> =>
  Object.fromEntries(
    Array.from({ length: addresses }, (_, index) => [
      addressOf(index),
      Array.from({ length: breachesEach }, (_, nth) => breachName(1 + ((index * 7 + nth) % 400))),
    ]),
  );

/** Addresses that a scan checks: one in 500 is disabled. */
const activeAddresses = addresses - addresses / 500;

type Targets = { writeUnits?: number; readUnits?: number; seconds?: number };

const columns = [
  "Scan",
  "New findings",
  "Seconds",
  "Read units",
  "Write units",
  "Requests",
  "MB",
  "Domain searches",
  "Other upstream calls",
  "Dollars of units",
  "Runtime MB",
  "Targets",
];

/**
 * What a scan has consumed, with what its last worker consumes after the end: it notes rare members.
 */
const takeAll = async ({ meter }: Bench): Promise<Consumed> => {
  const all = meter.take();
  for (;;) {
    await setTimeout(quietMilliseconds);
    const more = meter.take();
    if (more.requests === 0) return all;
    all.readUnits += more.readUnits;
    all.writeUnits += more.writeUnits;
    all.requests += more.requests;
    all.bytes += more.bytes;
  }
};

const measureScan = async (
  bench: Bench,
  hibp: HibpServer,
  scan: { name: string; newFindings: number; targets: Targets },
  peaks: Map<string, number>,
): Promise<Cell[]> => {
  const memory = watchMemory([bench.service.process.pid ?? 0, bench.engine.processId], 1_000);
  hibp.requests.length = 0;
  bench.meter.take();
  const begin = performance.now();
  const started = await bench.api.send({ method: "POST", path: "/scans" });
  if (started.status !== 201) throw new Error(`The scan did not start: ${JSON.stringify(started.body)}`);
  const ended = await scanEnds(bench, Number(started.body.scanJobId));
  const seconds = (performance.now() - begin) / 1000;
  const { readUnits, writeUnits, requests, bytes } = await takeAll(bench);
  const used = memory.stop();
  for (const [name, megabytes] of used.functions) {
    peaks.set(name, Math.max(peaks.get(name) ?? 0, megabytes));
  }
  if (scanRows.groupOf(ended).status !== "completed" || ended.newBreachesFound !== scan.newFindings) {
    throw new Error(
      `The scan "${scan.name}" was to complete with ${scan.newFindings} new findings: ${JSON.stringify(ended)}`,
    );
  }
  const searches = hibp.requests.filter(({ path }) => path.startsWith("breacheddomain/")).length;
  const { targets } = scan;
  return [
    scan.name,
    scan.newFindings,
    round(seconds),
    Math.round(readUnits),
    Math.round(writeUnits),
    requests,
    round(bytes / 1024 / 1024),
    searches,
    hibp.requests.length - searches,
    dollarsForUnits({ readUnits, writeUnits }).toFixed(4),
    Math.round(used.megabytes),
    [
      ...(targets.writeUnits === undefined
        ? []
        : [verdict("write", Math.round(writeUnits), targets.writeUnits)]),
      ...(targets.readUnits === undefined ? [] : [verdict("read", Math.round(readUnits), targets.readUnits)]),
      ...(targets.seconds === undefined ? [] : [verdict("seconds", round(seconds), targets.seconds)]),
      verdict("searches", searches, bench.seeded.domains.length),
    ].join(", "),
  ];
};

const scansOfMany = async (progress: Context["progress"]): Promise<Table[]> => {
  progress(`scans of ${addresses.toLocaleString("en-US")} addresses: seeding`);
  const database = await makeDatabase("scans", { findings: 0, addresses }, { progress, isScanned: false });
  const hibp = await startHibpServer();
  Object.assign(hibp, {
    accounts: accounts(),
    catalog: upstreamCatalog(),
    covered: database.seeded.domains,
  });
  const bench = await startBench(database, { hibpUrl: hibp.url, countsWorkers: true });
  try {
    const peaks = new Map<string, number>();
    const rows: Cell[][] = [];
    const scan = async (name: string, found: number, targets: Targets): Promise<void> => {
      progress(`scans of ${addresses.toLocaleString("en-US")} addresses: ${name.toLowerCase()}`);
      rows.push(await measureScan(bench, hibp, { name, newFindings: found, targets }, peaks));
    };
    await scan("First scan", activeAddresses * breachesEach, {});
    progress("the lists and the index of breaches take over the first scan's rows");
    await keepingEnvironment(async () => {
      Object.assign(process.env, {
        AWS_ENDPOINT_URL_DYNAMODB: bench.meter.url,
        AWS_REGION: "us-east-1",
        AWS_ACCESS_KEY_ID: "local",
        AWS_SECRET_ACCESS_KEY: "local",
        TABLE_NAME: tableOf(bench.assembly).name,
      });
      for (const kind of notedKinds) await refresh(bench.seeded.org, kind);
    });
    const { writeUnits } = await takeAll(bench);
    await scan("Nothing new", 0, { writeUnits: 100, readUnits: 10_000, seconds: 60 });
    for (let index = 0; index < newFindings; index++) {
      hibp.accounts[addressOf(index * (addresses / newFindings))]?.push(newBreach);
    }
    await scan(`${newFindings} new findings`, newFindings, {
      writeUnits: 3_500,
      readUnits: 10_000,
      seconds: 60,
    });
    return [
      {
        title: `Scans of ${addresses.toLocaleString("en-US")} addresses on ${database.seeded.domains.length} covered domains, no alert channels`,
        columns,
        rows,
        notes: [
          "Units, requests and MB: everything between functions and table from the request that starts the scan until its last worker has ended.",
          "Seconds: from that request to the end of the scan; upstream answers at once. Runtime MB: the most memory that the local runtime and its engine took together.",
          `Ends of scans note rare members and take findings over into the index of breaches, some at a time. Here all of that is done before the second scan, for ${Math.round(writeUnits).toLocaleString("en-US")} write units.`,
          "Other upstream calls: status and domains of the subscription.",
        ],
      },
      memoryTable(bench, peaks),
    ];
  } finally {
    await bench.close();
    await hibp.close();
  }
};

const run = async ({ progress }: Context): Promise<Table[]> => [
  ...(await scansOfMany(progress)),
  await scanWithChannels(progress),
];

export const scans: Arm = {
  name: "scans",
  about: "Scans of 100,000 addresses, and with 20 channels",
  run,
};
