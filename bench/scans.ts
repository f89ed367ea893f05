import { setTimeout } from "node:timers/promises";
import type { Consumed } from "../local/harness/meter.ts";
import type { Cell, Context, Table } from "./arm.ts";
import { round, verdict } from "./measure.ts";
import { dollarsForUnits } from "./prices.ts";
import { scan as scanThatFinds } from "./scan-ends.ts";
import { addressOf } from "./seed/addresses.ts";
import { breachName } from "./seed/breaches.ts";
import { type Bench, makeDatabase, startBench } from "./service.ts";
import { accountsOfBreaches } from "./upstream.ts";

const addresses = 100_000;
const breachesEach = 4;
const newFindings = 500;
/** The last worker has ended when the table sees no request for this long; workers pause for less. */
const quietMilliseconds = 2_000;
/** A breach without any address until the last scan. */
const newBreach = breachName(420);

/** Addresses that a scan checks: one in 500 is disabled. */
const activeAddresses = addresses - addresses / 500;

type Scan = {
  name: string;
  newFindings: number;
  targets?: { writeUnits: number; readUnits: number; seconds: number };
};

/** What a scan has consumed, with what its last worker consumes after the end. */
const takeAll = async ({ meter }: Bench): Promise<Consumed> => {
  const all = meter.take();
  for (;;) {
    await setTimeout(quietMilliseconds);
    const more = meter.take();
    if (more.requests === 0) return all;
    all.readUnits += more.readUnits;
    all.writeUnits += more.writeUnits;
    all.requests += more.requests;
  }
};

const measureScan = async (bench: Bench, scan: Scan): Promise<Cell[]> => {
  bench.meter.take();
  const begin = performance.now();
  await scanThatFinds(bench, scan.newFindings);
  const seconds = round((performance.now() - begin) / 1000);
  const consumed = await takeAll(bench);
  const [readUnits, writeUnits] = [Math.round(consumed.readUnits), Math.round(consumed.writeUnits)];
  const { targets } = scan;
  return [
    scan.name,
    scan.newFindings,
    seconds,
    readUnits,
    writeUnits,
    dollarsForUnits({ readUnits, writeUnits }).toFixed(4),
    targets === undefined
      ? ""
      : [
          verdict("write", writeUnits, targets.writeUnits),
          verdict("read", readUnits, targets.readUnits),
          verdict("seconds", seconds, targets.seconds),
        ].join(", "),
  ];
};

export const run = async ({ progress }: Context): Promise<Table[]> => {
  const ofMany = `scans of ${addresses.toLocaleString("en-US")} addresses`;
  progress(`${ofMany}: seeding`);
  const database = await makeDatabase("scans", { findings: 0, addresses }, { progress, isScanned: false });
  const accounts = accountsOfBreaches(addresses, breachesEach);
  const bench = await startBench(database, { accounts, countsWorkers: true });
  try {
    const rows: Cell[][] = [];
    const scan = async (each: Scan): Promise<void> => {
      progress(`${ofMany}: ${each.name.toLowerCase()}`);
      rows.push(await measureScan(bench, each));
    };
    await scan({ name: "First scan", newFindings: activeAddresses * breachesEach });
    const targets = { writeUnits: 100, readUnits: 10_000, seconds: 60 };
    await scan({ name: "Nothing new", newFindings: 0, targets });
    for (let index = 0; index < newFindings; index++) {
      bench.hibp.accounts[addressOf(index * (addresses / newFindings))]?.push(newBreach);
    }
    const name = `${newFindings} new findings`;
    await scan({ name, newFindings, targets: { ...targets, writeUnits: 3_500 } });
    return [
      {
        title: `Scans of ${addresses.toLocaleString("en-US")} addresses`,
        columns: [
          "Scan",
          "New findings",
          "Seconds",
          "Read units",
          "Write units",
          "Dollars of units",
          "Targets",
        ],
        rows,
        notes: [
          "On three domains that the subscription covers, without alert channels, while the " +
            "catalog of breaches does not change.",
          "Units: everything between functions and table from the request that starts the scan " +
            "until its last worker has ended.",
          "Seconds: from that request to the end of the scan; upstream answers at once.",
        ],
      },
    ];
  } finally {
    await bench.close();
  }
};
