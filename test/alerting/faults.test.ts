import { describe, expect, test } from "vitest";
import { run, testRun, useEngine } from "./faults/run.ts";

useEngine();

describe("alerts, while functions die, messages get lost or doubled, and requests fail", () => {
  testRun(100);

  test("run the same way again for the same seed", async () => {
    const first = await run(10, "again");
    expect(await run(10, "again")).toEqual(first);
  });
});
