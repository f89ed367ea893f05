import { setTimeout } from "node:timers/promises";
import type { Context, Run, Table } from "./arm.ts";
import { readFigures } from "./figures.ts";
import { fullRateTable } from "./full-rate.ts";
import { dollarsOf, round } from "./measure.ts";
import { floodTable, monthTable, titleOfOperations } from "./month.ts";
import { countOperations, operationCells, operationColumns } from "./operations.ts";
import { dollarsNote, type Units } from "./prices.ts";
import { accountsOf } from "./seed/findings.ts";
import { sizeOf } from "./seed/seed.ts";
import { makeDatabase, startBench, synthesizeWith } from "./service.ts";
import { resourcesOf } from "./stack.ts";

/** How many times faster time passes, so that an hour of schedules takes a minute. */
const speed = 60;
const millisecondsOfHour = 3_600_000 / speed;

const measureOperations = async ({ progress }: Context): Promise<Table> => {
  const database = await makeDatabase("operations", sizeOf(1_000), { progress });
  const bench = await startBench(database, { accounts: accountsOf(database.seeded) });
  try {
    progress("operations: counting");
    const operations = await countOperations(bench);
    return {
      title: titleOfOperations,
      columns: [...operationColumns, "$/million"],
      rows: operations.map((each) => [...operationCells(each), round(dollarsOf(bench, each.counted))]),
      notes: ["Every row includes the authorizer; the first is the authorizer alone.", dollarsNote],
    };
  } finally {
    await bench.close();
  }
};

/** What the schedules do in an hour in which nothing is due. They read only due rows, whatever the size. */
const measureQuietHour = async ({ progress }: Context): Promise<Units> => {
  const database = await makeDatabase("quiet", sizeOf(1_000), { progress });
  const options = { countsWorkers: true, furtherOptions: ["--speed", String(speed)] };
  const bench = await startBench(database, options);
  try {
    progress("a quiet hour: two minutes");
    // The first sync finds the whole catalog new, so the hour begins later.
    await setTimeout(millisecondsOfHour);
    bench.meter.take();
    await setTimeout(millisecondsOfHour);
    return bench.meter.take();
  } finally {
    await bench.close();
  }
};

export const run: Run = async (context) => {
  const operations = await measureOperations(context);
  const quietHour = await measureQuietHour(context);
  const plain = resourcesOf(await synthesizeWith("plain-assembly", {}));
  const minimal = resourcesOf(await synthesizeWith("minimal-assembly", { alarms: "minimal" }));
  const figures = readFigures();
  const uses = [
    { name: "Idle", resources: plain, addresses: 0 },
    { name: "Idle, `alarms=minimal`", resources: minimal, addresses: 0 },
    { name: "1,000 addresses", resources: plain, addresses: 1_000 },
    { name: "100,000 addresses", resources: plain, addresses: 100_000 },
  ];
  // The month is computed from these operations, and from what the arms lists and scans have stored.
  const cost = { ...figures.cost, tables: [operations] } as typeof figures.cost & object;
  const known = { ...figures, cost };
  return [operations, monthTable(uses, quietHour, known), floodTable(plain), fullRateTable(plain, known)];
};
