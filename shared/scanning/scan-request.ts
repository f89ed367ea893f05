import type { Logger } from "@aws-lambda-powertools/logger";
import { service } from "../access/activity/actor.ts";
import { isServed } from "../access/billing/billing.ts";
import * as organizations from "../access/organizations/organization.ts";
import type { Invocation } from "../aws/queue/consume.ts";
import { failedRows, forEachDue } from "../aws/queue/due-rows.ts";
import { chunk } from "../aws/table/chunk.ts";
import { condition } from "../aws/table/condition.ts";
import type { Key } from "../aws/table/keys.ts";
import { dueShard, keys, organizationOf } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { Refusal } from "../contract/errors.ts";
import { windowSeconds } from "../hibp/limiter.ts";
import * as domains from "../monitoring/domains/domain.ts";
import type { ScanType } from "./scan-schema.ts";
import { start } from "./start.ts";

/** A scan to start at `dueAt`, or once the one in progress has ended. An organization has at most one. */
type ScanRequest = { type: ScanType; dueShard: string; dueAt: string };

/** How many organizations' rows are written at the same time. */
const concurrency = 10;

/** Requests a scan at a time. An earlier request stays instead, since its scan finds the same. */
export const requestScan = async (org: number, type: ScanType, at: Date): Promise<void> => {
  const row: ScanRequest = { type, dueShard: dueShard("SCAN-REQUEST", org), dueAt: at.toISOString() };
  // Not written: there is an earlier request.
  await table.attempt(
    table.put(
      { ...keys.scanRequest(org), ...row },
      condition("attribute_not_exists(#pk) OR #dueAt > :dueAt", { dueAt: row.dueAt }),
    ),
  );
};

/**
 * Requests a scan of every organization. Each starts after the time that HIBP's rate (`rpm`) takes to
 * answer for the domains of the organizations before it. Where that exceeds `withinSeconds`, the scans
 * are spread over these seconds again from the beginning.
 */
export const requestScanOfAll = async (
  type: ScanType,
  { rpm, withinSeconds }: { rpm: number; withinSeconds: number },
): Promise<void> => {
  const now = Date.now();
  let questions = 0;
  for await (const ids of organizations.everyId()) {
    for (const some of chunk(ids, concurrency)) {
      const ofEach = await Promise.all(some.map(domains.list));
      await Promise.all(
        some.map((org, index) => {
          const seconds = ((questions * windowSeconds) / rpm) % withinSeconds;
          questions += ofEach[index]?.filter(({ verified }) => verified).length ?? 0;
          return requestScan(org, type, new Date(now + 1_000 * seconds));
        }),
      );
    }
  }
};

export const startDueScans = async (invocation: Invocation): Promise<void> => {
  const start = (key: Key) => startRequestedScan(key, invocation.logger);
  const failures = await forEachDue("SCAN-REQUEST", new Date(), invocation, start);
  if (failures > 0) throw failedRows(failures);
};

/**
 * Starts a requested scan, if one is needed, and deletes the request, which stays while another scan is
 * in progress.
 */
const startRequestedScan = async (key: Key, logger: Logger): Promise<void> => {
  const row = await table.get<ScanRequest>(key);
  if (row === undefined) return;
  const { type, dueAt } = row;
  const org = organizationOf(key);
  if (isServed(await organizations.get(org), new Date())) {
    try {
      const scanId = await start(org, type, service);
      logger.info("scan started", { organizationId: org, scanId, type });
    } catch (error) {
      if (error instanceof Refusal && error.refusal === "scanInProgress") return;
      if (!(error instanceof Refusal) || error.refusal !== "noActiveEmails") throw error;
    }
  }
  // Not written: a new request has replaced this one, and stays.
  await table.attempt(table.remove(key, condition("#dueAt = :dueAt", { dueAt })));
};
