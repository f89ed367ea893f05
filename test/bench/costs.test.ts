import { afterAll, beforeAll, describe, test } from "vitest";
import { titleOfOperations } from "../../bench/month.ts";
import { countOperations, operationCells, operationColumns } from "../../bench/operations.ts";
import { expectConsistent, expectPagesStored, expectStored, type Seeded, start } from "./costs.ts";

describe("costs with 1,000 findings", () => {
  let seeded: Seeded;
  beforeAll(async () => {
    seeded = await start(1_000);
  });
  afterAll(() => seeded?.stop());

  test("every page of a list", () => expectPagesStored(seeded.bench));

  test("every other operation", async () => {
    const rows = (await countOperations(seeded.bench)).map(operationCells);
    expectStored(rows, { arm: "cost", title: titleOfOperations, columns: operationColumns });
  });

  test("the audit finds nothing wrong after all operations", () => expectConsistent(seeded));
});
