import type { Invocation } from "../aws/queue/consume.ts";
import { condition } from "../aws/table/condition.ts";
import * as table from "../aws/table/table.ts";
import type { Message } from "../contract/messages.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { type ChunkKey, closeChunk } from "./email-chunks.ts";
import { end } from "./end.ts";
import { renewLock } from "./lock.ts";
import { isDone } from "./progress.ts";
import { type ScanRecord, scans } from "./record.ts";
import { recordCheck } from "./record-check.ts";

/** Records the changes of a chunk, closes it and takes it off the scan. Taking off the last ends the scan. */
export const check = async (message: Message<"scan-checks">, { logger }: Invocation): Promise<void> => {
  const { organizationId: org, scanId, batch, chunk, checkedAt, changes } = message;
  if (!(await renewLock(org, scanId))) return;
  const key: ChunkKey = { org, scanId, batch, chunk };
  const domainsById = new Map((await domains.list(org)).map((domain) => [domain.id, domain]));
  const skipped = await recordCheck(
    { ...key, checkedAt, domains: domainsById, logger },
    changes,
    message.skipped,
  );
  if (skipped === undefined) return;
  // Two workers can have the same chunk, and a newer answer of the second one must not be recorded once the
  // chunk is counted. A worker that dies after closing the chunk leaves `skipped` in its row for the next one
  // to count.
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
      // A newer answer can change more e-mails than the chunk was made for, so that more are skipped.
      add: { scannedEmails: Math.max(0, left - skipped) },
      remove: [`remaining.${batch}.${chunk}`],
      if: condition(`attribute_exists(#remaining.#${batch}.#${chunk}) AND #group = :running`, {
        running: scans.groupKeyOf({ ...scans.groupOf(scan), status: "running" }),
      }),
    }),
  );
  // Not written: another worker took the chunk off, the scan is over, or the reply to this write was lost.
  return change.written ? change.value : (change.failed[0]?.item as ScanRecord | undefined);
};
