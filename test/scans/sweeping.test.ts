import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { sweep } from "../../functions/sweep/handler.ts";
import * as limiter from "../../shared/catalog/limiter.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import { check } from "../../shared/scans/check.ts";
import { plan } from "../../shared/scans/plan.ts";
import { start } from "../../shared/scans/scan.ts";
import { keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import {
  createScanned,
  invocation,
  meanwhile,
  scanned,
  startPlanned,
  startWorkers,
  take,
  type Workers,
} from "./workers.ts";

let workers: Workers;
beforeAll(async () => {
  workers = await startWorkers();
  workers.breached = { "covered.example": { 0: ["Alpha"] } };
}, 60_000);
afterAll(() => workers?.stop());
afterEach(async () => {
  vi.useRealTimers();
  await table.remove(keys.limiter());
});

const sweepMilliseconds = 300_000;

/** So much later, a sweep. */
const sweepAfter = async (milliseconds = sweepMilliseconds): Promise<void> => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds });
  await sweep(invocation(), { silenceSeconds: 60, deletionSeconds: 900 });
};

test("a scan whose message only waits in its queue goes on when somebody takes it, after hours and with few messages more", async () => {
  const org = await createScanned({ "covered.example": 2 });
  const scanId = await start(org, "manual", administrator);
  const hours = 6;
  for (let count = 0; count < hours * 12; count++) await sweepAfter();
  expect(await scanned(org, scanId)).toMatchObject({ status: "pending" });
  const waiting = await take("scan-plans");
  expect(waiting.length).toBeGreaterThan(1);
  expect(waiting.length).toBeLessThan(10);
  for (const message of waiting) await plan(message, invocation());
  // One of them planned; the others were late.
  const chunks = await take("scan-chunks");
  expect(chunks).toHaveLength(1);
  for (const chunk of chunks) await check(chunk, invocation());
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 2 });
});

test("a scan whose chunks get lost each time is ended at the fifth sweep", async () => {
  const org = await createScanned({ "covered.example": 2 });
  const scanId = await startPlanned(org);
  let sweeps = 0;
  while ((await scanned(org, scanId)).status === "running") {
    expect(await take("scan-chunks")).toHaveLength(sweeps < 4 ? 1 : 0);
    await sweepAfter();
    sweeps++;
    for (const message of await take("scan-plans")) await plan(message, invocation());
  }
  expect(sweeps).toBe(5);
  expect(await scanned(org, scanId)).toMatchObject({
    status: "completed",
    scannedEmails: 1,
    totalEmails: 2,
    errorMessage: expect.stringContaining("the scan was interrupted"),
  });
});

test("a planner that waits for the rate limit again and again does not outlast the scan's 24 hours", async () => {
  const org = await createScanned({ "covered.example": 2 });
  const scanId = await start(org, "manual", administrator);
  const day = 24 * 3_600_000;
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + day - 2 * sweepMilliseconds });
  await limiter.pause(day / 1_000);
  for (const message of await take("scan-plans")) await plan(message, invocation());
  expect(await scanned(org, scanId)).toMatchObject({ status: "running" });
  await sweepAfter();
  expect(await scanned(org, scanId)).toMatchObject({ status: "running" });
  await sweepAfter(sweepMilliseconds + 1_000);
  expect(await scanned(org, scanId)).toMatchObject({
    status: "failed",
    errorMessage: expect.stringContaining("the scan was interrupted"),
  });
});

test("a scan that ends while the sweep looks at it is no failure of the sweep, and nobody is woken", async () => {
  const org = await createScanned({ "covered.example": 2 });
  const scanId = await startPlanned(org);
  const chunks = await take("scan-chunks");
  const ended = meanwhile("#fruitlessSweeps", "before", async () => {
    for (const chunk of chunks) await check(chunk, invocation());
  });
  await sweepAfter();
  expect(ended.happened).toBe(true);
  expect(await scanned(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 2 });
  expect(await take("scan-plans")).toEqual([]);
});
