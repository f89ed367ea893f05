import type { Context } from "aws-lambda";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { handler as startScheduled } from "../../functions/start-scheduled-scan/handler.ts";
import { sweep } from "../../functions/sweep/handler.ts";
import { handler as syncCatalog } from "../../functions/sync-catalog/handler.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as organizations from "../../shared/organizations/organization.ts";
import { end } from "../../shared/scans/end.ts";
import { request, startRequested } from "../../shared/scans/request.ts";
import { list, start } from "../../shared/scans/scan.ts";
import { keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import { reply } from "../catalog/upstream-server.ts";
import { activeBilling } from "../organizations/billing.ts";
import { inventedBreach } from "../service/breaches.ts";
import { createScanned, invocation, logger, meanwhile, startWorkers, type Workers } from "./workers.ts";

let workers: Workers;
let org: number;
beforeAll(async () => {
  workers = await startWorkers();
  vi.stubEnv("POWERTOOLS_LOG_LEVEL", "SILENT");
  vi.stubEnv("STAGGER_INTERVAL_SECONDS", "3600");
}, 60_000);
afterAll(() => workers?.stop());
beforeEach(async () => {
  org = await createScanned({ "single.example": 1 });
});

const context = { getRemainingTimeInMillis: () => 60_000 } as Context;
const requested = () => table.get<{ type: string; dueAt: string }>(keys.scanRequest(org));
const started = async (): Promise<string[]> =>
  (await list(org, { limit: 10, offset: 0 }, new Date())).scans.map(({ type }) => type);
const sweepNow = () => sweep(invocation(), { silenceSeconds: 60, deletionSeconds: 900 });

test("the first sync of the catalog asks for no scan; one with a new or a changed breach asks for one of every organization, within the stagger", async () => {
  const { answer } = workers.upstream;
  let listed: object[] = [inventedBreach("Alpha")];
  workers.upstream.answer = (path, request, response) =>
    path === "breaches" ? reply(response, 200, listed) : answer(path, request, response);
  await syncCatalog({}, context);
  expect(await requested()).toBeUndefined();
  await syncCatalog({}, context);
  expect(await requested()).toBeUndefined();
  for (const news of [
    [inventedBreach("Alpha"), inventedBreach("Beta")],
    [{ ...inventedBreach("Alpha"), ModifiedDate: "2031-01-01T00:00:00Z" }, inventedBreach("Beta")],
  ]) {
    listed = news;
    const before = Date.now();
    await syncCatalog({}, context);
    expect(await requested()).toMatchObject({ type: "catalog_triggered" });
    const dueAt = Date.parse((await requested())?.dueAt ?? "");
    expect(dueAt).toBeGreaterThanOrEqual(before);
    expect(dueAt).toBeLessThanOrEqual(Date.now() + 3_600_000);
    await table.remove(keys.scanRequest(org));
    await syncCatalog({}, context);
    expect(await requested()).toBeUndefined();
  }
  workers.upstream.answer = answer;
});

describe("a scan that is requested", () => {
  test("while another is in progress starts after it", async () => {
    const scanId = await start(org, "manual", administrator);
    await startScheduled({ organizationId: org }, context);
    await sweepNow();
    expect(await started()).toEqual(["manual"]);
    await end(org, scanId, { reason: "for a test", logger });
    await sweepNow();
    expect(await started()).toEqual(["scheduled", "manual"]);
    expect(await requested()).toBeUndefined();
  });

  test("starts once, at its time", async () => {
    await request(org, "catalog_triggered", new Date(Date.now() + 60_000));
    await sweepNow();
    expect(await started()).toEqual([]);
    await request(org, "catalog_triggered", new Date());
    await sweepNow();
    await sweepNow();
    expect(await started()).toEqual(["catalog_triggered"]);
    expect(await requested()).toBeUndefined();
  });

  test("and takes long to start does not keep those of other organizations waiting", async () => {
    const all = await Promise.all(
      Array.from({ length: 15 }, (_, index) => createScanned({ [`waiting${index}.example`]: 1 })),
    );
    for (const each of all) await request(each, "catalog_triggered", new Date());
    const waiting = async () =>
      (await table.getMany(all.map(keys.scanRequest))).filter((row) => row !== undefined).length;
    const slow = meanwhile(`"sk":{"S":"${keys.scanRequest(org).sk}"}`, "before", () =>
      vi.waitFor(async () => expect(await waiting()).toBe(1), 10_000),
    );
    await sweepNow();
    expect(slow.happened).toBe(true);
    expect(await waiting()).toBe(0);
  });

  test("of a lapsed organization does not start, neither by its schedule nor by the sweep", async () => {
    await organizations.setBilling(org, { ...activeBilling, status: "subscription_inactive" });
    await startScheduled({ organizationId: org }, context);
    expect(await requested()).toBeUndefined();
    await request(org, "catalog_triggered", new Date());
    expect(await startRequested(keys.scanRequest(org), logger)).toBe("skipped");
    await request(org, "catalog_triggered", new Date());
    await sweepNow();
    expect(await started()).toEqual([]);
  });
});
