import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { list } from "../../shared/monitoring/unwatched/unwatched-list.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { start } from "../../shared/scanning/start.ts";
import { recordCapacity } from "../aws/table/engine.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import {
  createOrganization,
  domainSearchCount,
  foundBy,
  invocation,
  readScan,
  runChecks,
  startAndPlan,
  takeMessage,
  useWorkers,
} from "./in-process-workers.ts";

const names = ["many", "died", "silent", "same0", "same2000"];
const workers = useWorkers({ breached: Object.fromEntries(names.map((name) => [`${name}.example`, {}])) });

/** Makes HIBP name `user0`, whom the organization watches, and so many addresses that nobody watches. */
const answer = (domain: string, strangers: number): void => {
  const aliases = Array.from({ length: strangers }, (_, at) => [`-${at.toString(36)}`, ["Alpha"]]);
  workers.breached[domain] = { 0: ["Alpha"], ...Object.fromEntries(aliases) };
};

const listed = async (org: number): Promise<number> => (await list(org, { limit: 1, offset: 0 })).total;

/** A part of each request that writes addresses that nobody watches. */

test("a finding is recorded before 100,000 addresses that nobody watches are kept", async () => {
  answer("many.example", 100_000);
  const org = await createOrganization({ "many.example": 1 });
  const scanId = await start(org, "manual", administrator);
  let found = 0;
  const kept = onTableRequest("addresses that nobody watches", "before", async () => {
    await runChecks();
    found = await foundBy(org, scanId);
  });
  await plan(await takeMessage("scan-plans"), invocation());
  expect(kept.happened).toBe(true);
  expect(found).toBe(1);
  expect(await listed(org)).toBe(100_000);
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 1 });
});

test("a planner that died before it kept them is followed by one that asks again", async () => {
  answer("died.example", 3);
  const org = await createOrganization({ "died.example": 1 });
  const scanId = await start(org, "manual", administrator);
  onTableRequest("addresses that nobody watches", "before", async () => {
    throw new Error("The function died");
  });
  await expect(plan(await takeMessage("scan-plans"), invocation())).rejects.toThrow("died");
  await runChecks();
  expect(await foundBy(org, scanId)).toBe(1);
  expect(await readScan(org, scanId)).toMatchObject({ status: "running" });
  expect(await listed(org)).toBe(0);

  const before = domainSearchCount(workers);
  await plan({ organizationId: org, scanId, fencingToken: 1 }, invocation());
  expect(domainSearchCount(workers) - before).toBe(1);
  expect(await listed(org)).toBe(3);
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    totalEmails: 1,
    scannedEmails: 1,
    newBreachesFound: 1,
  });
});

test("what HIBP does not answer again is kept by the next scan", async () => {
  answer("silent.example", 3);
  const org = await createOrganization({ "silent.example": 1 });
  const scanId = await start(org, "manual", administrator);
  onTableRequest("addresses that nobody watches", "before", async () => {
    throw new Error("The function died");
  });
  await expect(plan(await takeMessage("scan-plans"), invocation())).rejects.toThrow("died");
  await runChecks();
  workers.failureOf = (path) => (path.startsWith("breacheddomain/") ? 401 : undefined);
  await plan({ organizationId: org, scanId, fencingToken: 1 }, invocation());
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 1 });
  expect(await listed(org)).toBe(0);
  workers.failureOf = () => undefined;
  await startAndPlan(org);
  expect(await listed(org)).toBe(3);
});

test("an answer that names the same addresses costs two units at most", async () => {
  const capacity = recordCapacity();
  const costs: number[] = [];
  for (const strangers of [0, 2_000]) {
    const domain = `same${strangers}.example`;
    answer(domain, strangers);
    const org = await createOrganization({ [domain]: 1 });
    await startAndPlan(org);
    await runChecks();
    capacity.take();
    await startAndPlan(org);
    const { readUnits, writeUnits } = capacity.take();
    costs.push(readUnits + writeUnits);
  }
  const [without = 0, withThem = 0] = costs;
  expect(withThem - without).toBeLessThanOrEqual(2);
});
