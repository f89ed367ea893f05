import { afterAll, beforeAll, expect, test } from "vitest";
import { renewing, type ScanLock } from "../../shared/scans/record.ts";
import { keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import { type Engine, startEngine } from "../table/engine.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

const org = 1;
const scanId = 7;
const before = "2030-01-01T00:00:00.000Z";
const lock = () => table.get<ScanLock>(keys.scanLock(org));

test("work that takes long says every few seconds that it goes on, and learns when its scan is over", async () => {
  const taken: ScanLock = {
    scanId,
    planTurn: 0,
    renewedAt: before,
    fruitlessSweeps: 0,
    progress: "",
    dueShard: "SCAN#1",
    dueAt: before,
  };
  await table.put({ ...keys.scanLock(org), ...taken });
  let now = 0;
  const goOn = renewing(org, scanId, () => now);

  now += 2_000;
  expect(await goOn()).toBe(true);
  expect(await lock()).toMatchObject({ renewedAt: before, dueAt: before });

  // The sweep takes five seconds for silence, however fast waiting passes.
  now += 2_000;
  expect(await goOn()).toBe(true);
  const renewed = await lock();
  expect(renewed?.renewedAt).not.toBe(before);
  expect(renewed?.dueAt).toBe(renewed?.renewedAt);

  await table.put({ ...keys.scanLock(org), ...taken, scanId: scanId + 1 });
  now += 5_000;
  expect(await goOn()).toBe(false);
  now += 1;
  expect(await goOn()).toBe(false);
  expect(await lock()).toMatchObject({ scanId: scanId + 1, renewedAt: before });
});
