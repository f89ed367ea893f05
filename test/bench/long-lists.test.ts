import { afterAll, beforeAll, describe, test } from "vitest";
import { budgetsOfLongLists } from "../../bench/budgets.ts";
import { type Costs, costsOfLists, expectWhole, expectWithin, type Seeded, start } from "./costs.ts";

describe("with 100,000 findings, long since rolled up, no list costs more than it did", () => {
  const costs: Costs = {};
  let seeded: Seeded;

  beforeAll(async () => {
    seeded = await start(100_000);
    Object.assign(costs, await costsOfLists(seeded.bench));
  }, 180_000);

  afterAll(() => seeded?.stop());

  expectWithin(budgetsOfLongLists, costs);

  test(
    "the seeded organization is one that the service could have written",
    () => expectWhole(seeded),
    60_000,
  );
});
