import { describe } from "vitest";
import { testRun } from "./faults/run.ts";

describe("alerts, while functions die, messages get lost or doubled, and requests fail", () => testRun(25));
