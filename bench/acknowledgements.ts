import { setTimeout } from "node:timers/promises";
import type { Cell, Context, Run } from "./arm.ts";
import { round, verdict } from "./measure.ts";
import { dollarsForUnits } from "./prices.ts";
import { type Bench, makeDatabase, startBench } from "./service.ts";

/** Findings of each e-mail. */
const findingsEach = 4;

/** The most seconds for a hundred thousand findings. */
const mostSeconds = 300;

/** A second between two looks at how far the request is: each costs two read units. */
const lookAgainMilliseconds = 1_000;

const path = "/breaches/acknowledgements";

const acknowledgeAll = async (bench: Bench, { progress }: Context): Promise<Record<string, unknown>> => {
  const body = { filter: { acknowledged: false }, reason: "Seen" };
  const begun = await bench.api.send({ method: "POST", path, body });
  if (begun.status !== 202) throw new Error(`The request was refused: ${JSON.stringify(begun.body)}`);
  for (;;) {
    const { body } = await bench.api.send({ method: "GET", path: `${path}/${begun.body.id}` });
    progress("findings acknowledged", Number(body.acknowledged), Number(body.matching));
    if (body.status !== "running") return body;
    await setTimeout(lookAgainMilliseconds);
  }
};

const measureSize = async (findings: number, context: Context): Promise<Cell[]> => {
  const size = { findings, addresses: findings / findingsEach, isFirstScan: true };
  const database = await makeDatabase(`acknowledgements-${findings}`, size, context);
  const bench = await startBench(database, { countsWorkers: true });
  try {
    bench.meter.take();
    const begin = performance.now();
    const ended = await acknowledgeAll(bench, context);
    const seconds = round((performance.now() - begin) / 1000);
    const { readUnits, writeUnits } = bench.meter.take();
    if (ended.status !== "completed" || ended.acknowledged !== findings)
      throw new Error(`Not all findings were acknowledged: ${JSON.stringify(ended)}`);
    return [
      findings,
      seconds,
      Math.round(findings / seconds),
      Number((writeUnits / findings).toFixed(2)),
      Number((readUnits / findings).toFixed(2)),
      dollarsForUnits({ readUnits, writeUnits }).toFixed(4),
      verdict("seconds", seconds, (mostSeconds * Math.max(findings, 10_000)) / 100_000),
    ];
  } finally {
    await bench.close();
  }
};

export const run: Run = async (context) => {
  const rows: Cell[][] = [];
  for (const findings of context.sizes) rows.push(await measureSize(findings, context));
  return [
    {
      title: "One request that acknowledges all findings of a first scan",
      columns: [
        "Findings",
        "Seconds",
        "Findings a second",
        "Write units a finding",
        "Read units a finding",
        "Dollars of units",
        "Targets",
      ],
      rows,
      notes: [
        `Of e-mails with ${findingsEach} findings each, with a client that asks once a second how far it is.`,
      ],
    },
  ];
};
