import type { Context } from "aws-lambda";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { handler as startScheduled } from "../../functions/start-scheduled-scan/handler.ts";
import { handler as syncCatalog } from "../../functions/sync-catalog/handler.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import { withTimeOf } from "../../shared/aws/table/patience.ts";
import * as table from "../../shared/aws/table/table.ts";
import { list } from "../../shared/scanning/scan-list.ts";
import { requestScan, requestScanOfAll, startDueScans } from "../../shared/scanning/scan-request.ts";
import { start } from "../../shared/scanning/start.ts";
import { sweepScan } from "../../shared/scanning/sweep.ts";
import { activeBilling } from "../access/organizations/billing.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import { reply } from "../hibp/upstream-server.ts";
import {
  createOrganization,
  endEarly,
  invocation,
  readScan,
  runPlans,
  sweepOf,
  useWorkers,
} from "./in-process-workers.ts";

const workers = useWorkers();
let org: number;
beforeEach(async () => {
  vi.stubEnv("POWERTOOLS_LOG_LEVEL", "SILENT");
  vi.stubEnv("STAGGER_INTERVAL_SECONDS", "3600");
  vi.stubEnv("SYNC_INTERVAL_SECONDS", "0");
  org = await createOrganization({ "single.example": 1 });
});

const context = { getRemainingTimeInMillis: () => 60_000 } as Context;
const requestRow = () => table.get<{ type: string; dueAt: string }>(keys.scanRequest(org));
const newestScan = async (): Promise<number> =>
  (await list(org, { limit: 1, offset: 0 }, new Date())).scans[0]?.id ?? 0;
const startedTypes = async (): Promise<string[]> =>
  (await list(org, { limit: 10, offset: 0 }, new Date())).scans.map(({ type }) => type);
const startDue = () => withTimeOf(300_000, () => startDueScans(invocation()));
const requestsOf = (orgs: readonly number[]) =>
  table.getMany<{ type: string; dueAt: string }>(orgs.map(keys.scanRequest));

test("a sync that finds a new or changed breach requests scans; the first one does not", async () => {
  workers.catalog = [inventedBreach("Alpha")];
  await syncCatalog({}, context);
  expect(await requestRow()).toBeUndefined();
  await syncCatalog({}, context);
  expect(await requestRow()).toBeUndefined();
  for (const news of [
    [inventedBreach("Alpha"), inventedBreach("Beta")],
    [{ ...inventedBreach("Alpha"), ModifiedDate: "2031-01-01T00:00:00Z" }, inventedBreach("Beta")],
  ]) {
    workers.catalog = news;
    await syncCatalog({}, context);
    // Each organization waits twelve milliseconds for the one before it, which a quick machine does not take.
    const started = async () => {
      await startDue();
      return startedTypes();
    };
    await expect.poll(started).toEqual(["catalog_triggered"]);
    await endEarly(org, await newestScan());
    await syncCatalog({}, context);
    expect(await requestRow()).toBeUndefined();
    expect(await startedTypes()).toHaveLength(1);
    org = await createOrganization({ "single.example": 1 });
  }
});

test("a run between two syncs asks for the latest breach alone, and syncs if it is new", async () => {
  vi.stubEnv("SYNC_INTERVAL_SECONDS", "900");
  const { answer } = workers.upstream;
  workers.catalog = [inventedBreach("Alpha"), inventedBreach("Beta")];
  let fail: ((response: Parameters<typeof answer>[2]) => void) | undefined;
  workers.upstream.answer = (path, request, response) => {
    if (path !== "latestbreach") answer(path, request, response);
    else if (fail !== undefined) fail(response);
    else reply(response, 200, workers.catalog.at(-1));
  };
  const pathsOf = async (): Promise<string[]> => {
    workers.upstream.requests.length = 0;
    await syncCatalog({}, context);
    return workers.upstream.requests.map(({ path }) => path);
  };
  const whole = ["latestbreach", "subscription/status", "subscribeddomains", "breaches"];
  await pathsOf();
  expect(await pathsOf()).toEqual(["latestbreach"]);
  workers.catalog = [...workers.catalog, inventedBreach("Gamma")];
  expect(await pathsOf()).toEqual(whole);
  expect(await pathsOf()).toEqual(["latestbreach"]);
  // hibp.test.ts has which answers are failures.
  for (const failing of [429, 503]) {
    fail = (response) => reply(response, failing);
    expect(await pathsOf()).toEqual(["latestbreach"]);
  }
  vi.stubEnv("SYNC_INTERVAL_SECONDS", "0");
  expect(await pathsOf()).toEqual(whole);
});

test("scans start also while HIBP fails", async () => {
  workers.upstream.answer = (_path, _request, response) => reply(response, 401);
  await requestScan(org, "scheduled", new Date());
  await expect(syncCatalog({}, context)).rejects.toThrow("the API key is not accepted");
  expect(await startedTypes()).toEqual(["scheduled"]);
});

describe("scans of new breaches", () => {
  /** The seconds from now until each of the requested scans, ascending. */
  const dueSeconds = async (
    orgs: readonly number[],
    settings: { rpm: number; withinSeconds: number },
  ): Promise<number[]> => {
    for (const each of await everyOrganization()) await table.remove(keys.scanRequest(each));
    const now = Date.now();
    await requestScanOfAll("catalog_triggered", settings);
    return (await requestsOf(orgs))
      .map((row) => Math.round((Date.parse(row?.dueAt ?? "") - now) / 1_000))
      .sort((a, b) => a - b);
  };
  const everyOrganization = async (): Promise<number[]> => {
    const all: number[] = [];
    for await (const ids of organizations.everyId()) all.push(...ids);
    return all;
  };

  test("start one by one, as far apart as domains and rate demand", async () => {
    const orgs = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        createOrganization({ [`one${index}.example`]: 1, [`two${index}.example`]: 1 }),
      ),
    );
    const slow = await dueSeconds(orgs, { rpm: 10, withinSeconds: 3600 });
    const pauses = slow.slice(1).map((seconds, index) => seconds - (slow[index] as number));
    // Two domains each, and 10 questions in 70 seconds.
    expect(pauses).toEqual([14, 14, 14, 14, 14]);
    const fast = await dueSeconds(orgs, { rpm: 1_000, withinSeconds: 3600 });
    expect(fast.at(-1)).toBeLessThanOrEqual(Math.ceil((slow.at(-1) as number) / 100) + 1);
    // Never later than the limit, nor all at it.
    const limited = await dueSeconds(orgs, { rpm: 1, withinSeconds: 300 });
    expect(limited.at(-1)).toBeLessThanOrEqual(300);
    const inFirstHalf = limited.filter((seconds) => seconds < 150).length;
    expect(inFirstHalf).toBeGreaterThan(orgs.length / 4);
    expect(inFirstHalf).toBeLessThanOrEqual((3 * orgs.length) / 4);
  });
});

describe("a requested scan", () => {
  test("starts after the scan that is in progress", async () => {
    const scanId = await start(org, "manual", administrator);
    await startScheduled({ organizationId: org }, context);
    await startDue();
    expect(await startedTypes()).toEqual(["manual"]);
    await endEarly(org, scanId);
    await startDue();
    expect(await startedTypes()).toEqual(["scheduled", "manual"]);
    expect(await requestRow()).toBeUndefined();
  });

  test("that cannot be queued is planned by the sweep", async () => {
    vi.stubEnv("SCAN_PLANS_QUEUE_URL", `${process.env.SCAN_PLANS_QUEUE_URL}-that-is-not-there`);
    await startScheduled({ organizationId: org }, context);
    await startDue();
    vi.stubEnv("SCAN_PLANS_QUEUE_URL", process.env.SCAN_PLANS_QUEUE_URL?.replace("-that-is-not-there", ""));
    expect(await requestRow()).toBeUndefined();
    const scanId = await newestScan();
    expect(await readScan(org, scanId)).toMatchObject({ status: "pending" });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 300_000 });
    await sweepScan(keys.scanLock(org), sweepOf(Date.now()));
    await runPlans();
    vi.useRealTimers();
    expect(await readScan(org, scanId)).toMatchObject({ status: "running" });
  });

  test("starts once, at its time", async () => {
    await requestScan(org, "catalog_triggered", new Date(Date.now() + 60_000));
    await startDue();
    expect(await startedTypes()).toEqual([]);
    await requestScan(org, "catalog_triggered", new Date());
    await startDue();
    await startDue();
    expect(await startedTypes()).toEqual(["catalog_triggered"]);
    expect(await requestRow()).toBeUndefined();
  });

  test("that starts slowly does not delay other organizations", async () => {
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, index) => createOrganization({ [`waiting${index}.example`]: 1 })),
    );
    for (const each of all) await requestScan(each, "catalog_triggered", new Date());
    const waiting = async () =>
      (await table.getMany(all.map(keys.scanRequest))).filter((row) => row !== undefined).length;
    const slow = onTableRequest({ sk: keys.scanRequest(org).sk }, "before", () =>
      vi.waitFor(async () => expect(await waiting()).toBe(1), 150_000),
    );
    await startDue();
    expect(slow.happened).toBe(true);
    expect(await waiting()).toBe(0);
  });

  test("does not start for an organization that is not served", async () => {
    await organizations.set(org, { billing: { ...activeBilling, status: "subscription_inactive" } });
    for (const request of [
      () => startScheduled({ organizationId: org }, context),
      () => requestScan(org, "catalog_triggered", new Date()),
    ]) {
      await request();
      await startDue();
      expect(await requestRow()).toBeUndefined();
    }
    expect(await startedTypes()).toEqual([]);
  });
});
