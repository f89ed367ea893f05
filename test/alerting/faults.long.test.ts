import { describe } from "vitest";
import { testRun, useEngine } from "./faults/run.ts";

useEngine();

describe("alerts, while functions die, messages get lost or doubled, and requests fail", () => {
  testRun(400);
});
