import type { Arm, Table } from "./arm.ts";
import { floodTable } from "./cost/flood.ts";
import { measureOrganization, measureQuietHour } from "./cost/measurements.ts";
import { idleTable, monthTable } from "./cost/month.ts";
import { minimalAssembly, plainAssembly } from "./service.ts";
import { resourcesOf } from "./stack.ts";

/** Numbers of addresses; each has three findings. */
const sizes = [10, 1_000, 100_000];

export const cost: Arm = {
  name: "cost",
  about: "What a month costs, line by line",
  run: async (context) => {
    const quietHour = await measureQuietHour(context);
    const scheduled = new Set(quietHour.runs.map(({ name }) => name));
    const resources = resourcesOf(await plainAssembly());
    const tables: Table[] = [
      idleTable("An idle month", quietHour, resources),
      idleTable("An idle month with `-c alarms=minimal`", quietHour, resourcesOf(await minimalAssembly())),
      floodTable(resources),
    ];
    for (const addresses of sizes) {
      const size = { addresses, findings: 3 * addresses };
      const measured = await measureOrganization(size, scheduled, context);
      tables.push(monthTable(size, quietHour, measured));
    }
    return tables;
  },
};
