import { afterAll, beforeAll, describe, test } from "vitest";
import { budgetsOfLongLists } from "../../bench/budgets.ts";
import {
  type Costs,
  costsOfDashboard,
  costsOfLists,
  expectConsistent,
  expectWithin,
  type Seeded,
  start,
} from "./costs.ts";

describe("with 100,000 findings no list exceeds its budget", () => {
  const costs: Costs = {};
  let seeded: Seeded;

  beforeAll(async () => {
    seeded = await start(100_000);
    Object.assign(costs, await costsOfLists(seeded.bench), await costsOfDashboard(seeded.bench));
  });

  afterAll(() => seeded?.stop());

  expectWithin(budgetsOfLongLists, costs);

  test("the audit of the seeded organization finds nothing", () => expectConsistent(seeded), 60_000);
});
