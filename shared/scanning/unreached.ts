import { chunk } from "../aws/table/chunk.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { emails } from "../monitoring/emails/record.ts";
import { lastScannedAt } from "../monitoring/emails/watermark.ts";
import { isIncluded } from "./compare-email.ts";
import { chunksLeft } from "./email-chunks.ts";
import { unplannedOf } from "./final-counts.ts";
import type { ScanRecord } from "./record.ts";

/** How many blocks of e-mails are read at the same time. */
const concurrency = 8;

/**
 * The earliest of the last checks of the e-mails that a scan did not reach; null if none of them was checked before. Reads the e-mails
 * of their domains, as planning them would have.
 */
export const oldestCheckOfUnreached = async (
  org: number,
  scan: ScanRecord,
  allDomains: readonly Domain[],
): Promise<string | null> => {
  const unplanned = unplannedOf(scan, allDomains);
  const batches = new Set(chunksLeft(scan).map(({ batch }) => batch));
  const isLeft = ({ id, plannedByScan, planState, planBatch = 0 }: Domain): boolean =>
    unplanned.has(id) || (plannedByScan === scan.id && planState !== "failed" && batches.has(planBatch));
  const left = new Map(allDomains.filter(isLeft).map((domain) => [domain.id, domain]));
  const blocks = emails.blocks(
    await emails.directory(org),
    (group) => group.isActive && left.has(group.domainId),
  );
  let oldest: string | null = null;
  for (const some of chunk(blocks, concurrency)) {
    const read = await Promise.all(some.map((block) => emails.members(org, block)));
    for (const row of read.flat()) {
      const group = emails.groupOf(row);
      const domain = left.get(group.domainId);
      if (domain === undefined || !isIncluded(row, group, scan.id)) continue;
      const at = lastScannedAt(row, domain);
      if (at !== null && at < scan.createdAt && at < (oldest ?? scan.createdAt)) oldest = at;
    }
  }
  return oldest;
};
