import { startHibpServer } from "../test/service/hibp-server.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { dollarsNote } from "./dollars.ts";
import { handlerCpu } from "./handler.ts";
import { measure, measuredCells, measuredColumns, verdict } from "./measure.ts";
import { memoryTable, watchMemory } from "./memory.ts";
import { initialState, operations } from "./operations.ts";
import { accountsOf, upstreamCatalog } from "./seed.ts";
import { seededDatabase, startBench } from "./service.ts";

const targetCpuMilliseconds = 5;

const measureSize = async (size: number, { progress }: Context): Promise<Table[]> => {
  const database = await seededDatabase(size, progress);
  const hibp = await startHibpServer();
  Object.assign(hibp, {
    accounts: accountsOf(database.seeded),
    catalog: upstreamCatalog(),
    covered: database.seeded.domains,
  });
  const bench = await startBench(database, { hibpUrl: hibp.url, keepsInstances: true });
  const memory = watchMemory([bench.service.process.pid ?? 0]);
  try {
    const state = await initialState(bench);
    const rows: Cell[][] = [];
    for (const [position, operation] of operations.entries()) {
      progress(`operations at ${size.toLocaleString("en-US")} findings`, position, operations.length);
      const measured = await measure(bench, {
        ...operation,
        call: (index) => operation.call(state, index),
        replied: (reply, index) => operation.replied?.(state, reply, index),
      });
      const { method, path } = operation.call(state, 0);
      const isList = method === "GET" && operation.status === 200;
      if (isList) {
        const [cpu] = await handlerCpu(bench, [{ function: operation.function, path }], () => {});
        measured.cpuMilliseconds = cpu?.least;
      }
      const targets = [
        ...(operation.maxTrips === undefined ? [] : [verdict("trips", measured.trips, operation.maxTrips)]),
        ...(operation.maxWriteUnits === undefined
          ? []
          : [verdict("write", measured.writeUnits, operation.maxWriteUnits)]),
        isList ? verdict("CPU", measured.cpuMilliseconds, targetCpuMilliseconds) : "",
      ];
      rows.push([
        operation.name,
        ...measuredCells(measured),
        targets.filter((each) => each !== "").join(", "),
      ]);
    }
    const table: Table = {
      title: `Operations: ${size.toLocaleString("en-US")} findings of ${database.seeded.addresses.toLocaleString("en-US")} addresses`,
      columns: ["Operation", ...measuredColumns, "Targets"],
      rows,
      notes: [
        "The authorizer is included; the first row is what it takes by itself.",
        "CPU ms: of GET /alert-configs as of the other lists (arm lists); of the others of the function's whole process during these few calls, in which V8 still compiles.",
        "The message of POST /scans is counted as one trip; its units do not contain the scan.",
        dollarsNote,
      ],
    };
    return [table, memoryTable(bench, memory.stop().functions)];
  } finally {
    memory.stop();
    await bench.close();
    await hibp.close();
  }
};

export const endpoints: Arm = {
  name: "endpoints",
  about: "Every other operation",
  run: async (context) => {
    const tables: Table[] = [];
    for (const size of context.sizes) tables.push(...(await measureSize(size, context)));
    return tables;
  },
};
