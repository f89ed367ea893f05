import { expect, inject, test } from "vitest";
import type { Budget } from "../../bench/budgets.ts";
import { setCatalog } from "../../bench/catalog.ts";
import { listCalls, measureCalls } from "../../bench/lists.ts";
import { upstreamCatalog } from "../../bench/seed/breaches.ts";
import { accountsOf } from "../../bench/seed/findings.ts";
import { sizeOf } from "../../bench/seed/seed.ts";
import { type Bench, makeDatabase, removeScratch, startBench } from "../../bench/service.ts";
import { startHibpServer } from "../../local/harness/hibp-server.ts";
import { admin } from "../service/admin.ts";

export type Costs = Record<string, Budget>;

export type Seeded = { bench: Bench; stop: () => Promise<void> };

/** Starts a service on a seeded table with this many findings. */
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

/**
 * Each list on an instance without any breach in memory, and lists of findings also on one that has read the
 * page before.
 */
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

/** The overview and filtered lists of findings of the dashboard, on an instance that has read the breaches before. */
export const costsOfDashboard = async (bench: Bench): Promise<Costs> => {
  const costs: Costs = {};
  for (const path of [
    "/overview",
    "/findings",
    "/findings?domainId=3",
    "/findings?breachId=7",
    "/findings?breachId=7&acknowledged=false",
    "/findings?emailId=17",
  ]) {
    const call = { method: "GET", path, asUser: true } as const;
    await bench.api.send(call);
    const measured = await bench.measure(call);
    expect(measured.result).toMatchObject({ status: 200 });
    costs[`GET ${path} of the dashboard`] = costOf(measured);
  }
  return costs;
};

export const costOf = ({ trips, readUnits, writeUnits }: Budget): Budget => ({
  trips,
  readUnits,
  writeUnits,
});

/** Declares a test for each budget, and one that every measured operation has a budget. */
export const expectWithin = (budgets: Readonly<Costs>, costs: Costs): void => {
  test.each(Object.entries(budgets))("%s", (name, budget) => {
    const cost = costs[name];
    expect(
      cost,
      `bench/budgets.ts has a budget for "${name}", which nothing measures: remove the budget`,
    ).toBeDefined();
    for (const what of ["trips", "readUnits", "writeUnits"] as const) {
      const value = cost?.[what] ?? 0;
      expect(value, `${what} of ${name}`).toBeLessThanOrEqual(budget[what]);
      if (value < budget[what]) {
        console.log(`${name} costs less now: lower ${what} to ${value} in bench/budgets.ts`);
      }
    }
  });

  test("every operation has a budget", () => {
    const missing = Object.entries(costs).filter(([name]) => budgets[name] === undefined);
    expect(Object.fromEntries(missing)).toEqual({});
  });
};

/**
 * The audit must find no difference, so that the seeded rows are rows that the service could have written.
 */
export const expectConsistent = async ({ bench }: Seeded): Promise<void> => {
  const report = await admin("check", { org: bench.seeded.org }, bench.service.apiUrl);
  expect(report).toMatchObject({ differences: [] });
};
