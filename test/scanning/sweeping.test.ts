import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as limiter from "../../shared/monitoring/hibp/limiter.ts";
import { check } from "../../shared/scanning/check.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { start } from "../../shared/scanning/start.ts";
import { intercept, type Request } from "../aws/table/intercept.ts";
import {
  createOrganization,
  invocation,
  onTableRequest,
  readScan,
  runChecks,
  runLookUps,
  runPlans,
  startAndPlan,
  sweepNow,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

useWorkers({ breached: { "covered.example": { 0: ["Alpha"] } } });
afterEach(async () => {
  vi.useRealTimers();
  await table.remove(keys.limiter());
});

const sweepMilliseconds = 300_000;

/** Moves the clock on and sweeps. */
const sweepAfter = async (milliseconds = sweepMilliseconds): Promise<void> => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + milliseconds });
  await sweepNow();
};

test("a scan whose message waits in its queue for long gets few messages and goes on", async () => {
  const org = await createOrganization({ "covered.example": 2 });
  const scanId = await start(org, "manual", administrator);
  for (let count = 0; count < 15; count++) await sweepAfter();
  expect(await readScan(org, scanId)).toMatchObject({ status: "pending" });
  const waiting = await takeMessages("scan-plans");
  expect(waiting.length).toBeGreaterThan(1);
  expect(waiting.length).toBeLessThan(8);
  for (const message of waiting) await plan(message, invocation());
  // One of the messages planned the scan; the others were late.
  const chunks = await takeMessages("scan-checks");
  expect(chunks).toHaveLength(1);
  for (const chunk of chunks) await check(chunk, invocation());
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 2 });
});

test("a scan whose chunks wait for long behind others is sent again, and goes on", async () => {
  const org = await createOrganization({ "covered.example": 2, "single.example": 1 });
  const scanId = await startAndPlan(org);
  for (let count = 0; count < 8; count++) {
    await sweepAfter();
    await runPlans();
  }
  expect(await readScan(org, scanId)).toMatchObject({ status: "running" });
  const chunks = await takeMessages("scan-checks");
  expect(chunks).toHaveLength(5);
  for (const chunk of chunks) await check(chunk, invocation());
  // Now only its look-up waits, which is in the queue as often.
  for (let count = 0; count < 6; count++) {
    await sweepAfter();
    await runPlans();
  }
  vi.useRealTimers();
  expect(await readScan(org, scanId)).toMatchObject({ status: "running", scannedEmails: 2 });
  await runLookUps();
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 3 });
});

test("a scan whose chunks get lost each time is ended after 80 minutes", async () => {
  const org = await createOrganization({ "covered.example": 2 });
  const scanId = await startAndPlan(org);
  let [sent, sweeps] = [0, 0];
  while ((await readScan(org, scanId)).status === "running") {
    sent += (await takeMessages("scan-checks")).length;
    await sweepAfter();
    sweeps++;
    await runPlans();
  }
  expect({ sent, sweeps }).toEqual({ sent: 6, sweeps: 16 });
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    scannedEmails: 1,
    totalEmails: 2,
    errorMessage: expect.stringContaining("the scan was interrupted"),
  });
});

test("a planner that waits for the rate limit outlasts the 24 hours by minutes", async () => {
  const org = await createOrganization({ "covered.example": 2 });
  const scanId = await start(org, "manual", administrator);
  const day = 24 * 3_600_000;
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + day - 2 * sweepMilliseconds });
  await limiter.pause(day / 1_000);
  await runPlans();
  expect(await readScan(org, scanId)).toMatchObject({ status: "running" });
  await sweepAfter();
  expect(await readScan(org, scanId)).toMatchObject({ status: "running" });
  await sweepAfter(2 * sweepMilliseconds + 1_000);
  expect(await readScan(org, scanId)).toMatchObject({
    status: "failed",
    errorMessage: expect.stringContaining("the scan was interrupted"),
  });
});

test("a scan that ends while the sweep reads it neither fails the sweep nor is woken", async () => {
  const org = await createOrganization({ "covered.example": 2 });
  const scanId = await startAndPlan(org);
  const chunks = await takeMessages("scan-checks");
  const ended = onTableRequest("#wakes", "before", async () => {
    for (const chunk of chunks) await check(chunk, invocation());
  });
  await sweepAfter();
  expect(ended.happened).toBe(true);
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 2 });
  expect(await takeMessages("scan-plans")).toEqual([]);
});

/** Part of the update whose reply gets lost once, so that the client sends the update again. */
let losing: string | undefined;
beforeAll(() => {
  intercept<Request>("build", (next) => async (sent) => {
    const reply = await next(sent);
    const { headers, body } = sent.request;
    const isUpdate = headers["x-amz-target"]?.endsWith(".UpdateItem");
    if (losing === undefined || !isUpdate || !new TextDecoder().decode(body).includes(losing)) return reply;
    losing = undefined;
    throw Object.assign(new Error("socket hang up"), { name: "TimeoutError", code: "ECONNRESET" });
  });
});

test("the sweep heals a scan whose planner gets no reply to its fencing token", async () => {
  const org = await createOrganization({ "covered.example": 2, "single.example": 1 });
  losing = "fencingToken";
  const scanId = await startAndPlan(org);
  await runLookUps();
  await runChecks();
  await sweepAfter();
  await runPlans();
  await runLookUps();
  await runChecks();
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: 3,
    newBreachesFound: 1,
  });
  expect(losing).toBeUndefined();
});
