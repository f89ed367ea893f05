import type { Invocation } from "../aws/queue/consume.ts";
import { condition } from "../aws/table/condition.ts";
import * as table from "../aws/table/table.ts";
import type { Message } from "../contract/messages.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { type ChunkKey, changesOf, closeChunk } from "./email-chunks.ts";
import { end } from "./end.ts";
import { renewLock } from "./lock.ts";
import { isDone } from "./progress.ts";
import { type ScanRecord, scans } from "./record.ts";
import { recordCheck } from "./record-check.ts";

/** Records the changes of a chunk, closes it and takes it off the scan. Taking off the last ends the scan. */
export const check = async (message: Message<"scan-checks">, { logger }: Invocation): Promise<void> => {
  const { organizationId: org, scanId, batch, chunk } = message;
  if (!(await renewLock(org, scanId))) return;
  const key: ChunkKey = { org, scanId, batch, chunk };
  const [changes, allDomains] = await Promise.all([changesOf(key), domains.list(org)]);
  const domainsById = new Map(allDomains.map((domain) => [domain.id, domain]));
  const checkedAt = ({ planAt = "" }: domains.Domain) => planAt;
  const skipped = await recordCheck({ ...key, checkedAt, domains: domainsById, logger }, changes);
  if (skipped === undefined) return;
  // Another worker may have the same chunk and be slow: it must write nothing once the scan is over. A worker
  // that dies after closing the chunk leaves `skipped` in its row for the next one to count.
  await closeChunk(key, { skipped });
  const scan = await takeOff(key, skipped);
  if (scan !== undefined && isDone(scan)) await end(org, scanId, { logger });
};

/** Takes a chunk off the scan and counts its e-mails except skipped ones, once. Returns the changed scan. */
const takeOff = async (
  { org, scanId, batch, chunk }: ChunkKey,
  skipped: number,
): Promise<ScanRecord | undefined> => {
  const scan = await scans.get(org, scanId);
  const left = scan?.remaining[batch]?.[chunk];
  if (scan === undefined || left === undefined) return scan;
  const change = await table.attempt(
    table.update<ScanRecord>(scans.key(org, scanId), {
      add: { scannedEmails: left - skipped },
      remove: [`remaining.${batch}.${chunk}`],
      if: condition(`attribute_exists(#remaining.#${batch}.#${chunk}) AND #group = :running`, {
        running: scans.groupKeyOf({ ...scans.groupOf(scan), status: "running" }),
      }),
    }),
  );
  // Not written: another worker took the chunk off, the scan is over, or the reply to this write was lost.
  return change.written ? change.value : (change.failed[0]?.item as ScanRecord | undefined);
};
