import type { Logger } from "@aws-lambda-powertools/logger";
import { Refusal } from "../api/errors.ts";
import { isServed } from "../billing/billing.ts";
import { service } from "../organizations/actor.ts";
import * as organizations from "../organizations/organization.ts";
import { condition } from "../table/condition.ts";
import type { Key } from "../table/keys.ts";
import { dueShard, keys, organizationOf } from "../table/keys.ts";
import { parts } from "../table/parts.ts";
import * as table from "../table/table.ts";
import * as scans from "./scan.ts";
import type { ScanType } from "./schema.ts";

/** A scan that is to start at `dueAt`, or when the one in progress then has ended. There is one at most. */
type ScanRequest = { type: ScanType; dueShard: string; dueAt: string };

/** Rows written at the same time. */
const width = 10;

/** Asks for a scan at a time; what was asked for before and is earlier stays, since that scan sees the same. */
export const request = async (org: number, type: ScanType, at: Date): Promise<void> => {
  const row: ScanRequest = { type, dueShard: dueShard("SCAN-REQUEST", org), dueAt: at.toISOString() };
  try {
    await table.put(
      { ...keys.scanRequest(org), ...row },
      condition("attribute_not_exists(#pk) OR #dueAt > :dueAt", { dueAt: row.dueAt }),
    );
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
  }
};

/**
 * Asks for a scan of every organization, each at its own random time within `staggerSeconds`, so that they do not all come at
 * once to the upstream.
 */
export const requestAll = async (type: ScanType, staggerSeconds: number): Promise<void> => {
  const now = Date.now();
  for await (const ids of organizations.everyId()) {
    for (const part of parts(ids, width)) {
      await Promise.all(
        part.map((org) => request(org, type, new Date(now + Math.random() * staggerSeconds * 1000))),
      );
    }
  }
};

type Outcome = "started" | "in progress" | "skipped";

/** Starts a requested scan; it stays requested while another is in progress. */
export const startRequested = async (key: Key, logger: Logger): Promise<Outcome> => {
  const row = await table.get<ScanRequest>(key);
  if (row === undefined) return "skipped";
  const outcome = await startByItself(organizationOf(key), row.type, logger);
  if (outcome === "in progress") return outcome;
  try {
    await table.remove(key, condition("#dueAt = :dueAt", { dueAt: row.dueAt }));
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
  }
  return outcome;
};

/** Starts a scan that nobody asked for by hand. A lapsed organization is not scanned, nor one without active e-mails. */
const startByItself = async (org: number, type: ScanType, logger: Logger): Promise<Outcome> => {
  if (!isServed(await organizations.get(org), new Date())) return "skipped";
  try {
    const scanId = await scans.start(org, type, service);
    logger.info("scan started", { organizationId: org, scanId, type });
    return "started";
  } catch (error) {
    if (!(error instanceof Refusal) || error.refusal === "scanNotQueued") throw error;
    return error.refusal === "scanInProgress" ? "in progress" : "skipped";
  }
};
