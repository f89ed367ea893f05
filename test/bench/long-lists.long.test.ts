import { afterAll, beforeAll, describe, test } from "vitest";
import { expectConsistent, expectPagesStored, type Seeded, start } from "./costs.ts";

describe("with 100,000 findings pages of lists cost what the figures say", () => {
  let seeded: Seeded;
  beforeAll(async () => {
    seeded = await start(100_000);
  });
  afterAll(() => seeded?.stop());

  test("every page of a list", () => expectPagesStored(seeded.bench));

  // It reads every row, which takes two minutes on a quiet machine.
  test("the audit of the seeded organization finds nothing", () => expectConsistent(seeded), 600_000);
});
