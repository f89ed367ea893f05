import type { Invocation } from "../aws/queue/consume.ts";
import * as table from "../aws/table/table.ts";
import type { Message } from "../contract/messages.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { type ChunkKey, changesOf, isDone, takingOff } from "./email-chunks.ts";
import { end } from "./end.ts";
import { renewLock, renewWhile } from "./lock.ts";
import { scans } from "./record.ts";
import { recordCheck } from "./record-check.ts";

/** Records the changes of a chunk and takes it off the scan. Taking off the last ends the scan. */
export const check = async (message: Message<"scan-checks">, { logger }: Invocation): Promise<void> => {
  const { organizationId: org, scanId, batch, chunk } = message;
  if (!(await renewLock({ org, scanId }))) return;
  const key: ChunkKey = { org, scanId, batch, chunk };
  const [changes, allDomains] = await Promise.all([changesOf(key), domains.list(org)]);
  const domainsById = new Map(allDomains.map((domain) => [domain.id, domain]));
  const checkedAt = ({ planAt = "" }: domains.Domain) => planAt;
  const recording = { ...key, checkedAt, domains: domainsById, logger };
  const skipped = await renewWhile(key, () => recordCheck(recording, changes));
  if (skipped !== undefined) await takeOff(key, skipped);
  const scan = await scans.get(org, scanId);
  if (scan !== undefined && isDone(scan)) await end(org, scanId, { logger });
};

/** Takes a chunk off the scan and counts its e-mails except skipped ones. */
const takeOff = async (key: ChunkKey, skipped: number): Promise<void> => {
  const { org, scanId, batch, chunk } = key;
  const scan = await scans.get(org, scanId);
  const left = scan?.remaining[batch]?.[chunk];
  if (scan === undefined || left === undefined) return;
  // Not written: another worker has taken the chunk off, or the scan is over.
  await table.attempt(table.transact(takingOff(key, scan, { scannedEmails: left - skipped })));
};
