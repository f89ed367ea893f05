import { expect, inject, test } from "vitest";
import type { Budget } from "../../bench/budgets.ts";
import { setCatalog } from "../../bench/catalog.ts";
import { listCalls, measureCalls } from "../../bench/lists.ts";
import { accountsOf, sizeOf, upstreamCatalog } from "../../bench/seed.ts";
import { type Bench, makeDatabase, removeScratch, startBench } from "../../bench/service.ts";
import { admin } from "../service/client.ts";
import { startHibpServer } from "../service/hibp-server.ts";

export type Costs = Record<string, Budget>;

export type Seeded = { bench: Bench; stop: () => Promise<void> };

/** A service on a seeded table of this many findings. */
export const start = async (size: number): Promise<Seeded> => {
  const assemblyDirectory = inject("assembly");
  const options = { progress: () => {}, assemblyDirectory };
  const database = await makeDatabase(`budgets-${size}`, sizeOf(size), options);
  const hibp = await startHibpServer();
  Object.assign(hibp, {
    accounts: accountsOf(database.seeded),
    catalog: upstreamCatalog(),
    covered: database.seeded.domains,
  });
  const bench = await startBench(database, { hibpUrl: hibp.url, assemblyDirectory });
  return {
    bench,
    stop: async () => {
      await bench.close();
      await hibp.close();
      removeScratch();
    },
  };
};

export const costsOfLists = async (bench: Bench): Promise<Costs> => {
  const costs: Costs = {};
  const lists = listCalls(bench.seeded);
  await setCatalog(bench, "changing");
  for (const list of lists) costs[list.name] = costOf(await measureCalls(bench, list));
  await setCatalog(bench, "settled");
  for (const list of lists.filter((each) => each.function === "list-breaches")) {
    await bench.api.send({ method: "GET", path: list.path });
    costs[`${list.name}, breaches known`] = costOf(await measureCalls(bench, list));
  }
  return costs;
};

export const costOf = ({ trips, readUnits, writeUnits }: Budget): Budget => ({
  trips,
  readUnits,
  writeUnits,
});

/** Declares a test for each budget, and one that each cost has one. */
export const expectWithin = (budgets: Readonly<Costs>, costs: Costs): void => {
  test.each(Object.entries(budgets))("%s", (name, budget) => {
    const cost = costs[name];
    expect(cost, `bench/budgets.ts has a budget for "${name}", which is not measured any more`).toBeDefined();
    for (const what of ["trips", "readUnits", "writeUnits"] as const) {
      const value = cost?.[what] ?? 0;
      expect(value, `${what} of ${name}`).toBeLessThanOrEqual(budget[what]);
      if (value < budget[what]) {
        console.log(`${name} costs less: lower ${what} to ${value} in bench/budgets.ts`);
      }
    }
  });

  test("every operation has a budget", () => {
    const missing = Object.entries(costs).filter(([name]) => budgets[name] === undefined);
    expect(Object.fromEntries(missing)).toEqual({});
  });
};

/** What was seeded is what the service could have written. */
export const expectWhole = async ({ bench }: Seeded): Promise<void> => {
  const report = await admin("check", { org: bench.seeded.org }, bench.service.apiUrl);
  expect(report).toMatchObject({ differences: [] });
};
