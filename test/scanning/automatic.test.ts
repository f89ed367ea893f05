import type { Context } from "aws-lambda";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { handler as startScheduled } from "../../functions/start-scheduled-scan/handler.ts";
import { sweep } from "../../functions/sweep/handler.ts";
import { handler as syncCatalog } from "../../functions/sync-catalog/handler.ts";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { list } from "../../shared/scanning/scan-list.ts";
import { requestScan, startRequestedScan } from "../../shared/scanning/scan-request.ts";
import { start } from "../../shared/scanning/start.ts";
import { activeBilling } from "../access/organizations/billing.ts";
import { reply } from "../monitoring/hibp/upstream-server.ts";
import {
  createOrganization,
  endEarly,
  invocation,
  logger,
  onTableRequest,
  useWorkers,
} from "./in-process-workers.ts";

const workers = useWorkers();
let org: number;
beforeAll(() => {
  vi.stubEnv("POWERTOOLS_LOG_LEVEL", "SILENT");
  vi.stubEnv("STAGGER_INTERVAL_SECONDS", "3600");
});
beforeEach(async () => {
  org = await createOrganization({ "single.example": 1 });
});

const context = { getRemainingTimeInMillis: () => 60_000 } as Context;
const requestRow = () => table.get<{ type: string; dueAt: string }>(keys.scanRequest(org));
const startedTypes = async (): Promise<string[]> =>
  (await list(org, { limit: 10, offset: 0 }, new Date())).scans.map(({ type }) => type);
const sweepNow = () => sweep(invocation(), { silenceSeconds: 60, deletionSeconds: 900 });

test("a sync that finds a new or changed breach requests scans; the first one does not", async () => {
  const { answer } = workers.upstream;
  let listed: object[] = [inventedBreach("Alpha")];
  workers.upstream.answer = (path, request, response) =>
    path === "breaches" ? reply(response, 200, listed) : answer(path, request, response);
  await syncCatalog({}, context);
  expect(await requestRow()).toBeUndefined();
  await syncCatalog({}, context);
  expect(await requestRow()).toBeUndefined();
  for (const news of [
    [inventedBreach("Alpha"), inventedBreach("Beta")],
    [{ ...inventedBreach("Alpha"), ModifiedDate: "2031-01-01T00:00:00Z" }, inventedBreach("Beta")],
  ]) {
    listed = news;
    const before = Date.now();
    await syncCatalog({}, context);
    expect(await requestRow()).toMatchObject({ type: "catalog_triggered" });
    // At a time within the stagger.
    const dueAt = Date.parse((await requestRow())?.dueAt ?? "");
    expect(dueAt).toBeGreaterThanOrEqual(before);
    expect(dueAt).toBeLessThanOrEqual(Date.now() + 3_600_000);
    await table.remove(keys.scanRequest(org));
    await syncCatalog({}, context);
    expect(await requestRow()).toBeUndefined();
  }
  workers.upstream.answer = answer;
});

describe("a requested scan", () => {
  test("starts after the scan that is in progress", async () => {
    const scanId = await start(org, "manual", administrator);
    await startScheduled({ organizationId: org }, context);
    await sweepNow();
    expect(await startedTypes()).toEqual(["manual"]);
    await endEarly(org, scanId);
    await sweepNow();
    expect(await startedTypes()).toEqual(["scheduled", "manual"]);
    expect(await requestRow()).toBeUndefined();
  });

  test("starts once, at its time", async () => {
    await requestScan(org, "catalog_triggered", new Date(Date.now() + 60_000));
    await sweepNow();
    expect(await startedTypes()).toEqual([]);
    await requestScan(org, "catalog_triggered", new Date());
    await sweepNow();
    await sweepNow();
    expect(await startedTypes()).toEqual(["catalog_triggered"]);
    expect(await requestRow()).toBeUndefined();
  });

  test("that is slow to start does not delay those of other organizations", async () => {
    const all = await Promise.all(
      Array.from({ length: 15 }, (_, index) => createOrganization({ [`waiting${index}.example`]: 1 })),
    );
    for (const each of all) await requestScan(each, "catalog_triggered", new Date());
    const waiting = async () =>
      (await table.getMany(all.map(keys.scanRequest))).filter((row) => row !== undefined).length;
    const slow = onTableRequest(`"sk":{"S":"${keys.scanRequest(org).sk}"}`, "before", () =>
      vi.waitFor(async () => expect(await waiting()).toBe(1), 10_000),
    );
    await sweepNow();
    expect(slow.happened).toBe(true);
    expect(await waiting()).toBe(0);
  });

  test("does not start for an organization that is not served, by schedule or sweep", async () => {
    await organizations.setBilling(org, { ...activeBilling, status: "subscription_inactive" });
    await startScheduled({ organizationId: org }, context);
    expect(await requestRow()).toBeUndefined();
    await requestScan(org, "catalog_triggered", new Date());
    expect(await startRequestedScan(keys.scanRequest(org), logger)).toBe("skipped");
    await requestScan(org, "catalog_triggered", new Date());
    await sweepNow();
    expect(await startedTypes()).toEqual([]);
  });
});
