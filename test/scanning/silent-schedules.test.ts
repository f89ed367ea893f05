/** The sweep tells which of the other schedules do not run, by what they have left undone. */
import { afterEach, expect, test, vi } from "vitest";
import { dueShard, keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { silentSchedule } from "../../shared/contract/log-lines.ts";
import { logger, sweepNow, useWorkers } from "./in-process-workers.ts";

useWorkers();

const delivery = { pk: "ORG#990#DELIVERY", sk: "1" };
afterEach(async () => {
  vi.restoreAllMocks();
  await table.remove(delivery);
  await table.remove(keys.subscription());
});

const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();

const deliveryDue = (minutes: number): Promise<void> =>
  table.put({ ...delivery, dueShard: dueShard("DELIVERY", 3), dueAt: minutesAgo(minutes) });

const synced = (at: string, failedAt?: string): Promise<void> =>
  table.put({ ...keys.subscription(), rpm: 10, at, ...(failedAt !== undefined && { failedAt }) });

/** The lines that a sweep logs as errors. */
const errorsOfSweep = async (): Promise<unknown[][]> => {
  const error = vi.spyOn(logger, "error");
  await sweepNow();
  return error.mock.calls;
};

test("an alert due for ten minutes tells that the re-dispatch does not run", async () => {
  await deliveryDue(11);
  expect(await errorsOfSweep()).toEqual([[silentSchedule, { schedule: "redispatch-alerts" }]]);
});

test("an hour without a sync of the catalog tells that the sync does not run", async () => {
  await synced(minutesAgo(61));
  expect(await errorsOfSweep()).toEqual([[silentSchedule, { schedule: "sync-catalog" }]]);
});

test("schedules that run, or fail, or have nothing to do yet, are not silent", async () => {
  expect(await errorsOfSweep()).toEqual([]);
  await deliveryDue(9);
  await synced(minutesAgo(300), minutesAgo(14));
  expect(await errorsOfSweep()).toEqual([]);
});
