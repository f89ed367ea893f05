import { startHibpServer } from "../local/harness/hibp-server.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { handlerCpu } from "./handler.ts";
import { measure, measuredCells, measuredColumns, verdict } from "./measure.ts";
import { memoryTable, watchMemory } from "./memory.ts";
import { initialState, operations } from "./operations.ts";
import { dollarsNote } from "./prices.ts";
import { upstreamCatalog } from "./seed/breaches.ts";
import { accountsOf } from "./seed/findings.ts";
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
        ...(operation.maxTrips === undefined
          ? []
          : [verdict("round trips", measured.trips, operation.maxTrips)]),
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
        "Every row includes the authorizer; the first row is the authorizer alone.",
        "CPU ms: of GET /alert-configs measured as in the arm lists; of the other operations the time of the function's whole process during these few calls, in which V8 still compiles.",
        "POST /scans: sending its message counts as one round trip; its units do not include the scan itself.",
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
  about: "Every operation that is not a list",
  run: async (context) => {
    const tables: Table[] = [];
    for (const size of context.sizes) tables.push(...(await measureSize(size, context)));
    return tables;
  },
};
