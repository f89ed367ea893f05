import { afterAll, beforeAll, test } from "vitest";
import { expectPagesStored, type Seeded, start } from "./costs.ts";

let seeded: Seeded;
beforeAll(async () => {
  seeded = await start(100_000);
});
afterAll(() => seeded?.stop());

test("with 100,000 findings every page of a list costs what the figures say", () =>
  expectPagesStored(seeded.bench));
