import { expect, test } from "vitest";
import { useWorkers } from "../scanning/in-process-workers.ts";
import { readEntriesOfSlowWriters, readScansOfKilledWorkers } from "./feed-writers.ts";

const workers = useWorkers({ breached: { "killed.example": {} } });

test("findings of 30 scans with killed and late workers come once, all of them", async () => {
  const read = await readScansOfKilledWorkers(workers, "killed.example", 30);
  expect(read.findings).toBeGreaterThan(500);
}, 600_000);

test("log entries of 6,000 steps of slow and killed writers come once, all of them", async () => {
  expect((await readEntriesOfSlowWriters(6_000)).entries).toBeGreaterThan(2_000);
}, 600_000);
