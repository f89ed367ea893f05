import { expect, test } from "vitest";
import { useWorkers } from "../scanning/in-process-workers.ts";
import { readEntriesOfSlowWriters, readScansOfKilledWorkers } from "./feed-writers.ts";

const workers = useWorkers({ breached: { "killed.example": {} } });

test("findings of 15 scans with killed and late workers come once, all of them", async () => {
  const read = await readScansOfKilledWorkers(workers, "killed.example", 15);
  expect(read.findings).toBeGreaterThan(250);
}, 600_000);

test("log entries of 2,000 steps of slow and killed writers come once, all of them", async () => {
  expect((await readEntriesOfSlowWriters(2_000)).entries).toBeGreaterThan(600);
}, 600_000);
