import type { Invocation } from "../aws/queue/consume.ts";
import * as table from "../aws/table/table.ts";
import type { Message } from "../contract/messages.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { type ChunkKey, changesOf, isDone, takingOff } from "./email-chunks.ts";
import { end } from "./end.ts";
import { renewLock, renewWhile } from "./lock.ts";
import { scans } from "./record.ts";
import { recordCheck } from "./record-check.ts";

/**
 * Records the changes of a chunk and takes it off the scan with its e-mails except skipped ones. Taking
 * off the last ends the scan.
 */
export const check = async (message: Message<"scan-checks">, { logger }: Invocation): Promise<void> => {
  const { organizationId: org, scanId, batch, chunk } = message;
  if (!(await renewLock({ org, scanId }))) return;
  const key: ChunkKey = { org, scanId, batch, chunk };
  const [scan, changes, allDomains] = await Promise.all([
    scans.get(org, scanId),
    changesOf(key),
    domains.list(org),
  ]);
  const left = scan?.remaining[batch]?.[chunk];
  if (scan !== undefined && left !== undefined) {
    const domainsById = new Map(allDomains.map((domain) => [domain.id, domain]));
    const checkedAt = ({ planAt = "" }: domains.Domain) => planAt;
    const recording = { ...key, isFirst: scan.isFirst, checkedAt, domains: domainsById, logger };
    const skipped = await renewWhile(key, () => recordCheck(recording, changes));
    // Not written: another worker has taken the chunk off, or the scan is over.
    if (skipped !== undefined)
      await table.attempt(table.transact(takingOff(key, scan, { scannedEmails: left - skipped })));
  }
  const after = await scans.get(org, scanId);
  if (after !== undefined && isDone(after)) await end(org, scanId, { logger });
};
