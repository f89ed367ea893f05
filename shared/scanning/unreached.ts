import { chunk as inChunksOf } from "../aws/table/chunk.ts";
import { blockOf } from "../lists/blocks.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { emails } from "../monitoring/emails/record.ts";
import { lastScannedAt } from "../monitoring/emails/watermark.ts";
import { isIncluded } from "./compare-email.ts";
import { chunksLeft, isLookup, rangesOfChunk } from "./email-chunks.ts";
import { unplannedOf } from "./final-counts.ts";
import { cursorOf } from "./look-up-cursor.ts";
import type { ScanRecord } from "./record.ts";

/** How many blocks of e-mails are read at the same time. */
const concurrency = 8;

/**
 * The earliest of the last checks of the e-mails that a scan did not reach, given the domains as they were before the scan's
 * watermarks; null if none of them was checked before. Reads these e-mails, as planning them would have.
 */
export const oldestCheckOfUnreached = async (
  org: number,
  scan: ScanRecord,
  allDomains: readonly Domain[],
): Promise<string | null> => {
  const domains = new Map(allDomains.map((domain) => [domain.id, domain]));
  let oldest: string | null = null;
  const read = async (
    block: number,
    isOfPart: (domain: Domain) => boolean,
    range?: { fromId: number; toId: number },
  ): Promise<void> => {
    for (const row of await emails.members(org, block, range)) {
      const group = emails.groupOf(row);
      const domain = domains.get(group.domainId);
      if (domain === undefined || !isOfPart(domain) || !isIncluded(row, group, scan.id)) continue;
      const at = lastScannedAt(row, domain);
      if (at !== null && (oldest === null || at < oldest)) oldest = at;
    }
  };

  const unplanned = unplannedOf(scan, allDomains);
  const blocks =
    unplanned.size === 0
      ? []
      : emails.blocks(
          await emails.directory(org),
          (group) => group.isActive && unplanned.has(group.domainId),
        );
  for (const some of inChunksOf(blocks, concurrency)) {
    await Promise.all(some.map((block) => read(block, ({ id }) => unplanned.has(id))));
  }
  for (const some of inChunksOf(chunksLeft(scan), concurrency)) {
    await Promise.all(
      some.map(async ({ batch, chunk }) => {
        const planState = isLookup(chunk) ? "single" : "checked";
        const isOfChunk = (domain: Domain): boolean =>
          domain.plannedByScan === scan.id && domain.planBatch === batch && domain.planState === planState;
        // Those up to the cursor were looked up, or failed.
        const cursor = isLookup(chunk) ? await cursorOf({ org, scanId: scan.id, batch, chunk }) : 0;
        for (const { fromId, toId } of rangesOfChunk(chunk)) {
          const range = { fromId: Math.max(fromId, cursor + 1), toId };
          if (range.fromId <= toId) await read(blockOf(fromId), isOfChunk, range);
        }
      }),
    );
  }
  return oldest;
};
