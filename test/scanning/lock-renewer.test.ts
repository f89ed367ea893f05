import { expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { lockRenewer, type ScanLock } from "../../shared/scanning/lock.ts";
import { useEngine } from "../aws/table/engine.ts";

useEngine();

const org = 1;
const scanId = 7;
const before = "2030-01-01T00:00:00.000Z";
const readLock = () => table.get<ScanLock>(keys.scanLock(org));

test("long work renews the lock every few seconds and learns when its scan is over", async () => {
  const lock: ScanLock = {
    scanId,
    fencingToken: 0,
    renewedAt: before,
    wakes: 0,
    progress: "",
    dueShard: "SCAN#1",
    dueAt: before,
  };
  await table.put({ ...keys.scanLock(org), ...lock });
  let now = 0;
  const renew = lockRenewer(org, scanId, () => now);

  now += 2_000;
  expect(await renew()).toBe(true);
  expect(await readLock()).toMatchObject({ renewedAt: before, dueAt: before });

  // Five seconds without a renewal can be silence to the sweep.
  now += 2_000;
  expect(await renew()).toBe(true);
  const renewed = await readLock();
  expect(renewed?.renewedAt).not.toBe(before);
  expect(renewed?.dueAt).toBe(renewed?.renewedAt);

  await table.put({ ...keys.scanLock(org), ...lock, scanId: scanId + 1 });
  now += 5_000;
  expect(await renew()).toBe(false);
  now += 1;
  expect(await renew()).toBe(false);
  expect(await readLock()).toMatchObject({ scanId: scanId + 1, renewedAt: before });
});
