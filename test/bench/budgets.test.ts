import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { type Budget, budgets } from "../../bench/budgets.ts";
import { setCatalog } from "../../bench/catalog.ts";
import { committing, previewing } from "../../bench/import.ts";
import { type ListCall, listCalls } from "../../bench/lists.ts";
import { measure } from "../../bench/measure.ts";
import { initialState, operations } from "../../bench/operations.ts";
import { accountsOf, sizeOf, upstreamCatalog } from "../../bench/seed.ts";
import { type Bench, makeDatabase, removeScratch, startBench } from "../../bench/service.ts";
import { admin } from "../service/client.ts";
import { type HibpServer, startHibpServer } from "../service/hibp-server.ts";

const size = 1_000;
const measured: Record<string, Budget> = {};
let bench: Bench;
let hibp: HibpServer;

beforeAll(async () => {
  const assemblyDirectory = inject("assembly");
  const database = await makeDatabase("budgets", sizeOf(size), { progress: () => {}, assemblyDirectory });
  hibp = await startHibpServer();
  Object.assign(hibp, {
    accounts: accountsOf(database.seeded),
    catalog: upstreamCatalog(),
    covered: database.seeded.domains,
  });
  bench = await startBench(database, { hibpUrl: hibp.url, assemblyDirectory });
  await setCatalog(bench, "changing");
  const lists = listCalls(bench.seeded);
  for (const list of lists) measured[list.name] = await costOfList(list);
  await setCatalog(bench, "settled");
  for (const list of lists.filter((each) => each.function === "list-breaches")) {
    await bench.api.send({ method: "GET", path: list.path });
    measured[`${list.name}, breaches known`] = await costOfList(list);
  }
  const state = await initialState(bench);
  for (const operation of operations) {
    const counted = await measure(bench, {
      ...operation,
      timedCalls: 0,
      call: (index) => operation.call(state, index),
      replied: (reply, index) => operation.replied?.(state, reply, index),
    });
    measured[operation.name] = costOf(counted);
  }
  const preview = await bench.measure(previewing(0));
  measured["POST /emails/import/preview"] = costOf(preview);
  measured["POST /emails/import/commit"] = costOf(await bench.measure(committing(preview.result)));
}, 120_000);

afterAll(async () => {
  await bench?.close();
  await hibp?.close();
  removeScratch();
});

const costOfList = async ({ function: name, path }: ListCall): Promise<Budget> => {
  const call = { method: "GET", path } as const;
  return costOf(await measure(bench, { function: name, call: () => call, status: 200, timedCalls: 0 }));
};

const costOf = ({ trips, readUnits, writeUnits }: Budget): Budget => ({ trips, readUnits, writeUnits });

describe("no operation costs more round trips or units than it did", () => {
  test.each(Object.entries(budgets))("%s", (name, budget) => {
    const cost = measured[name];
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
    const missing = Object.entries(measured).filter(([name]) => budgets[name] === undefined);
    expect(Object.fromEntries(missing)).toEqual({});
  });
});

test("the seeded organization is one that the service could have written, also after all operations", async () => {
  const report = await admin("check", { org: bench.seeded.org }, bench.service.apiUrl);
  expect(report).toMatchObject({ differences: [] });
});
