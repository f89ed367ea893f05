import { afterAll, beforeAll, describe, test } from "vitest";
import { budgets } from "../../bench/budgets.ts";
import { committing, previewing } from "../../bench/import.ts";
import { measure } from "../../bench/measure.ts";
import { initialState, operations } from "../../bench/operations.ts";
import {
  type Costs,
  costOf,
  costsOfDashboard,
  costsOfLists,
  expectConsistent,
  expectWithin,
  type Seeded,
  start,
} from "./costs.ts";

describe("with 1,000 findings no operation exceeds its budget", () => {
  const costs: Costs = {};
  let seeded: Seeded;

  beforeAll(async () => {
    seeded = await start(1_000);
    const { bench } = seeded;
    Object.assign(costs, await costsOfLists(bench), await costsOfDashboard(bench));
    const state = await initialState(bench);
    for (const operation of operations) {
      const counted = await measure(bench, {
        ...operation,
        timedCalls: 0,
        call: (index) => operation.call(state, index),
        replied: (reply, index) => operation.replied?.(state, reply, index),
      });
      costs[operation.name] = costOf(counted);
    }
    const preview = await bench.measure(previewing(0));
    costs["POST /emails/import/preview"] = costOf(preview);
    costs["POST /emails/import/commit"] = costOf(await bench.measure(committing(preview.result)));
  });

  afterAll(() => seeded?.stop());

  expectWithin(budgets, costs);

  test("after all operations the audit of the seeded organization finds nothing", () =>
    expectConsistent(seeded));
});
