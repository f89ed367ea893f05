/** Planners of scans, and the sweep that wakes them. */

import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as limiter from "../../shared/hibp/limiter.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { setVerified } from "../../shared/monitoring/domains/proof.ts";
import * as emails from "../../shared/monitoring/emails/email.ts";
import * as emailList from "../../shared/monitoring/emails/email-list.ts";
import { check } from "../../shared/scanning/check.ts";
import type { ScanLock } from "../../shared/scanning/lock.ts";
import { domainsPerBatch, plan } from "../../shared/scanning/plan.ts";
import * as scanList from "../../shared/scanning/scan-list.ts";
import { start } from "../../shared/scanning/start.ts";
import { intercept, type Request } from "../aws/table/intercept.ts";
import { isAt, onTableRequest, type Point } from "../aws/table/request-points.ts";
import {
  changesIn,
  createOrganization,
  domainSearchCount,
  invocation,
  readScan,
  runChecks,
  runLookUps,
  runPlans,
  startAndPlan,
  sweepNow,
  takeMessage,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

/** More domains than one batch holds. */
const names = Array.from({ length: domainsPerBatch + 5 }, (_, index) => `many${index}.example`);

const workers = useWorkers({
  breached: { ...Object.fromEntries(names.map((name) => [name, {}])), "covered.example": { 0: ["Alpha"] } },
});
afterEach(async () => {
  vi.useRealTimers();
  await table.remove(keys.limiter());
});
let org: number;
beforeAll(async () => {
  org = await createTwoPerDomain(names);
});

/** Creates an organization with two addresses in each of these domains. */
const createTwoPerDomain = (ofDomains: readonly string[]): Promise<number> =>
  createOrganization(Object.fromEntries(ofDomains.map((name) => [name, 2])));

/** The first address of each of these domains is in these breaches. */
const setBreached = (ofDomains: readonly string[], breaches: string[]): void => {
  for (const name of ofDomains) workers.breached[name] = { 0: breaches };
};

test("a message that comes twice plans once; a planner woken by the sweep takes over", async () => {
  setBreached(names, ["Alpha"]);
  workers.latencyMilliseconds = 10;
  const scanId = await start(org, "manual", administrator);
  const message = await takeMessage("scan-plans");
  const before = domainSearchCount(workers);
  const first = [plan(message, invocation()), plan(message, invocation())];
  while (domainSearchCount(workers) - before < 40) await sleep(5);
  await Promise.all([...first, plan({ ...message, fencingToken: 1 }, invocation())]);
  // Each of the two planners asks about a domain once at most.
  expect(domainSearchCount(workers) - before).toBeLessThanOrEqual(2 * names.length);
  const chunks = await takeMessages("scan-checks");
  expect((await Promise.all(chunks.map(changesIn))).flat()).toHaveLength(names.length);
  for (const chunk of chunks) await check(chunk, invocation());
  expect(await readScan(org, scanId)).toMatchObject({
    status: "completed",
    scannedEmails: 2 * names.length,
    newBreachesFound: names.length,
  });
  expect(await takeMessages("scan-plans")).toEqual([]);
});

test("while a scan runs, it has checked no more than all, whatever was added meanwhile", async () => {
  const [name] = names as [string];
  setBreached([name], ["Alpha"]);
  const own = await createOrganization({ [name]: 1 });
  await start(own, "manual", administrator);
  const [{ id: domainId = 0 } = {}] = await domains.list(own);
  for (const alias of ["one", "two", "three"])
    await emails.add(own, { email: `${alias}@${name}`, domainId }, administrator);
  await runPlans();
  const { scans } = await scanList.list(own, { limit: 1, offset: 0 }, new Date());
  expect(scans).toMatchObject([{ status: "running", scannedEmails: 3, totalEmails: 3 }]);
  await runChecks();
  const ended = await scanList.list(own, { limit: 1, offset: 0 }, new Date());
  expect(ended.scans).toMatchObject([{ status: "completed", scannedEmails: 4, totalEmails: 4 }]);
});

describe("a planner", () => {
  const some = names.slice(0, 5);

  test.each([
    ["while it saves", "what a scan has left" as const],
    ["while it asks", { text: "many3.example" }],
  ])("goes on after one that died %s", async (_, point) => {
    setBreached(some, ["Alpha"]);
    const org = await createTwoPerDomain(some);
    const scanId = await start(org, "manual", administrator);
    const message = await takeMessage("scan-plans");
    const died = onTableRequest(point, "before", async () => {
      throw new Error("died");
    });
    await expect(plan(message, invocation())).rejects.toThrow("died");
    expect(died.happened).toBe(true);
    await plan({ ...message, fencingToken: 1 }, invocation());
    await runChecks();
    expect(await readScan(org, scanId)).toMatchObject({
      status: "completed",
      scannedEmails: 2 * some.length,
      newBreachesFound: some.length,
    });
  });

  test("plans its batch anew after a domain has left it", async () => {
    setBreached(some, ["Alpha"]);
    const org = await createTwoPerDomain(some);
    const scanId = await start(org, "manual", administrator);
    const [left] = await domains.list(org);
    const isLeft = onTableRequest("what a scan has left", "before", () =>
      setVerified(org, left?.id ?? 0, false),
    );
    await runPlans();
    expect(isLeft.happened).toBe(true);
    await runChecks();
    expect(await readScan(org, scanId)).toMatchObject({
      status: "completed",
      scannedEmails: 2 * (some.length - 1),
    });
  });
});

test("a scan whose planner meets the rate limit waits and then goes on", async () => {
  const some = names.slice(0, 3);
  setBreached(some, ["Beta"]);
  const org = await createTwoPerDomain(some);
  const scanId = await start(org, "manual", administrator);
  await limiter.pause(600);
  await runPlans();
  expect(await readScan(org, scanId)).toMatchObject({ status: "running", planned: false });
  // The lock tells the sweep that the planner waits.
  const lock = await table.get<ScanLock>(keys.scanLock(org));
  expect(Date.parse(lock?.dueAt ?? "") - Date.now()).toBeGreaterThan(500_000);

  await table.remove(keys.limiter());
  await plan({ organizationId: org, scanId, fencingToken: 1 }, invocation());
  await runChecks();
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", newBreachesFound: 3 });
});

test("a planner without the fencing token leaves the changes of the next one alone", async () => {
  const some = names.slice(0, 1);
  setBreached(some, ["Beta"]);
  const org = await createTwoPerDomain(some);
  const scanId = await start(org, "manual", administrator);
  const message = await takeMessage("scan-plans");
  const keeping = onTableRequest("the changes of a chunk", "before", async () => {
    setBreached(some, ["Beta", "Gamma"]);
    await plan({ ...message, fencingToken: 1 }, invocation());
  });
  await plan(message, invocation());
  expect(keeping.happened).toBe(true);
  await runChecks();
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", newBreachesFound: 2 });
});

test("a domain that a superseded planner claims late is claimed and searched once more", async () => {
  setBreached(names.slice(0, 1), []);
  const org = await createOrganization({ "many0.example": 2 });
  const scanId = await start(org, "manual", administrator);
  const message = await takeMessage("scan-plans");
  const [domain] = await domains.list(org);
  if (domain === undefined) throw new Error("The organization has no domain");
  workers.latencyMilliseconds = 50;
  const before = domainSearchCount(workers);
  const planning = plan(message, invocation());
  while (domainSearchCount(workers) === before) await sleep(5);
  await table.update(keys.domain(org, domain.id), { set: { planAt: new Date().toISOString() } });
  await planning;
  expect(domainSearchCount(workers) - before).toBe(2);
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 2 });
});

test("with slow answers each batch lasts twice as long, and is saved before the next", async () => {
  const some = names.slice(0, 24);
  setBreached(some, []);
  const org = await createTwoPerDomain(some);
  const scanId = await start(org, "manual", administrator);
  const { answer } = workers.upstream;
  const [first] = await domains.list(org);
  const late = { email: `late@${first?.name}`, domainId: first?.id ?? 0 };
  let lateId: number | undefined;
  const saved = new Set<number>();
  workers.upstream.answer = async (path, request, response) => {
    if (path.startsWith("breacheddomain/")) {
      vi.setSystemTime(Date.now() + 1_300);
      saved.add((await readScan(org, scanId)).scannedEmails ?? 0);
      // An e-mail that is added once its domain is claimed is not part of the scan.
      lateId ??= await emails.add(org, late, administrator);
    }
    answer(path, request, response);
  };
  vi.useFakeTimers({ toFake: ["Date"] });
  await runPlans();
  vi.useRealTimers();
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 48 });
  const batches = new Set((await domains.list(org)).map(({ planBatch }) => planBatch));
  expect(batches.size).toBe(3);
  expect(saved.size).toBe(3);
  const listed = (await emailList.list(org, { limit: 100, offset: 0 })).emails;
  expect(listed.find(({ id }) => id === lateId)?.lastScannedAt).toBeNull();
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
  const ended = onTableRequest("the waking of a scan", "before", async () => {
    for (const chunk of chunks) await check(chunk, invocation());
  });
  await sweepAfter();
  expect(ended.happened).toBe(true);
  expect(await readScan(org, scanId)).toMatchObject({ status: "completed", scannedEmails: 2 });
  expect(await takeMessages("scan-plans")).toEqual([]);
});

/** Where the reply to an update gets lost once, so that the client sends the update again. */
let losing: Point | undefined;
beforeAll(() => {
  intercept<Request>("finalizeRequest", (next) => async (sent) => {
    const reply = await next(sent);
    const isUpdate = sent.request.headers["x-amz-target"]?.endsWith(".UpdateItem");
    if (losing === undefined || !isUpdate || !isAt(losing, sent)) return reply;
    losing = undefined;
    throw Object.assign(new Error("socket hang up"), { name: "TimeoutError", code: "ECONNRESET" });
  });
});

test("the sweep heals a scan whose planner gets no reply to its fencing token", async () => {
  const org = await createOrganization({ "covered.example": 2, "single.example": 1 });
  losing = "the token of a planner";
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
