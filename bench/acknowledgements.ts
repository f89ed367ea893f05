import { execFile } from "node:child_process";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { round, verdict } from "./measure.ts";
import { dollarsForUnits } from "./prices.ts";
import { type Bench, makeDatabase, startBench } from "./service.ts";

/** Findings of each e-mail, and the write units that acknowledging one may cost. */
const shapes = [
  { each: 4, maxWriteUnits: 4 },
  { each: 1, maxWriteUnits: 6 },
] as const;

const maxSecondsOf100000 = 300;

/** A second between two looks at how far the request is: each costs two read units. */
const lookAgainMilliseconds = 1_000;

const path = "/breaches/acknowledgements";

const acknowledgeAll = async (bench: Bench, { progress }: Context): Promise<Record<string, unknown>> => {
  const begun = await bench.api.send({
    method: "POST",
    path,
    body: { filter: { acknowledged: false }, reason: "Seen" },
  });
  if (begun.status !== 202) throw new Error(`The request was refused: ${JSON.stringify(begun.body)}`);
  for (;;) {
    const { body } = await bench.api.send({ method: "GET", path: `${path}/${begun.body.id}` });
    progress("findings acknowledged", Number(body.acknowledged), Number(body.matching));
    if (body.status !== "running") return body;
    await setTimeout(lookAgainMilliseconds);
  }
};

const runCommand = promisify(execFile);
const adminProgram = join(import.meta.dirname, "../bin/admin.ts");

/** Differences between rows that must agree, as `admin check` finds them. */
const countDifferences = async ({ service, seeded }: Bench): Promise<number> => {
  const { port } = new URL(service.apiUrl);
  const args = ["check", "--org", String(seeded.org), "--port", port, "--json"];
  const { stdout } = await runCommand(process.execPath, [adminProgram, ...args]);
  return JSON.parse(stdout).differenceCount;
};

const run = async (context: Context): Promise<Table[]> => {
  const rows: Cell[][] = [];
  for (const findings of context.sizes) {
    for (const { each, maxWriteUnits } of shapes) {
      const size = { findings, addresses: findings / each, isFirstScan: true };
      const database = await makeDatabase(`acknowledgements-${findings}-${each}`, size, context);
      const bench = await startBench(database, { countsWorkers: true });
      try {
        bench.meter.take();
        const begin = performance.now();
        const ended = await acknowledgeAll(bench, context);
        const seconds = (performance.now() - begin) / 1000;
        const { readUnits, writeUnits, requests } = bench.meter.take();
        if (ended.status !== "completed" || ended.acknowledged !== findings)
          throw new Error(`Not all findings were acknowledged: ${JSON.stringify(ended)}`);
        const dryRun = { filter: { domainId: 1 }, dryRun: true };
        const counted = await bench.measure({ method: "POST", path, body: dryRun });
        context.progress("comparing all rows with each other");
        rows.push([
          findings,
          each,
          round(seconds),
          Math.round(findings / seconds),
          Number((writeUnits / findings).toFixed(2)),
          Number((readUnits / findings).toFixed(2)),
          requests,
          dollarsForUnits({ readUnits, writeUnits }).toFixed(4),
          await countDifferences(bench),
          round(counted.result.milliseconds / 1000),
          Math.round(counted.readUnits),
          [
            verdict("write units a finding", Number((writeUnits / findings).toFixed(2)), maxWriteUnits),
            verdict("seconds", round(seconds), Math.max(30, (findings / 100_000) * maxSecondsOf100000)),
          ].join(", "),
        ]);
      } finally {
        await bench.close();
      }
    }
  }
  return [
    {
      title: "One request that acknowledges all findings of a first scan",
      columns: [
        "Findings",
        "Of each e-mail",
        "Seconds",
        "Findings a second",
        "Write units a finding",
        "Read units a finding",
        "Requests",
        "Dollars of units",
        "Differences after it",
        "Seconds to count those of a domain",
        "Read units of that",
        "Targets",
      ],
      rows,
      notes: ["With the client that asks once a second how far it is."],
    },
  ];
};

export const acknowledgements: Arm = {
  name: "acknowledgements",
  about: "Acknowledging all findings of a first scan at once",
  run,
};
