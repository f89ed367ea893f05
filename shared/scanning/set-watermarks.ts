import { condition } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { forgetDomain, noteDomain, ownChecks } from "../monitoring/domains/own-checks.ts";
import { rangeOf, watermarksWithin } from "../monitoring/emails/watermark.ts";
import { chunksLeft, isLookup, rangesOfChunk } from "./email-chunks.ts";
import { holdsBatchOf } from "./progress.ts";
import type { ScanRecord } from "./record.ts";

/**
 * Records on each domain whose answer was compared that its e-mails were checked at `planAt`. Ranges of
 * unfinished chunks keep their earlier watermarks in `stale`, until a later try to end the scan finds those
 * chunks finished.
 */
export const setWatermarks = async (
  org: number,
  scan: ScanRecord,
  allDomains: readonly Domain[],
): Promise<void> => {
  const left = chunksLeft(scan).filter(({ chunk }) => !isLookup(chunk));
  const checked = allDomains.filter(
    (domain) =>
      domain.plannedByScan === scan.id &&
      domain.planState === "checked" &&
      (domain.checkedByScan < scan.id || (domain.checkedByScan === scan.id && !isWhole(domain.stale))) &&
      holdsBatchOf(scan, domain),
  );
  const noted = checked.length > 0 ? (await ownChecks(org)).domains : new Set();
  for (const domain of checked) {
    const ranges = left
      .filter(({ batch }) => batch === domain.planBatch)
      .flatMap(({ chunk }) => rangesOfChunk(chunk));
    const isRepeated = domain.checkedByScan === scan.id;
    const stale = isRepeated
      ? staleWithin(ranges, domain.stale)
      : Object.assign({}, ...ranges.map((range) => watermarksWithin(range, domain)));
    if (!isWhole(stale)) await noteDomain(org, domain.id);
    // Not written: another worker ends this scan, or the domain was unverified or claimed by a later scan.
    const { written } = await table.attempt(
      table.update(keys.domain(org, domain.id), {
        set: { checkedByScan: scan.id, checkedAt: domain.planAt, stale },
        if: condition(
          `#plannedByScan = :scan AND #planState = :checked AND ${isRepeated ? "#checkedByScan = :scan AND #stale = :stale" : "#checkedByScan < :scan"}`,
          { scan: scan.id, checked: "checked", ...(isRepeated && { stale: domain.stale }) },
        ),
      }),
    );
    if (written && isWhole(stale) && noted.has(domain.id)) await forgetDomain(org, domain.id);
  }
};

/** Whether a watermark holds for all e-mails of its domain. */
const isWhole = (stale: Domain["stale"] = {}): boolean => Object.keys(stale).length === 0;

/** The stale ranges of a domain that lie inside one of `ranges`, which do not overlap. */
const staleWithin = (
  ranges: readonly { fromId: number; toId: number }[],
  stale: Domain["stale"] = {},
): NonNullable<Domain["stale"]> =>
  Object.fromEntries(
    Object.entries(stale).filter(([name]) => {
      const { fromId, toId } = rangeOf(name);
      return ranges.some((range) => fromId >= range.fromId && toId <= range.toId);
    }),
  );
