import { condition } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { Domain } from "../monitoring/domains/domain-row.ts";
import { forgetDomain, ownChecks } from "../monitoring/domains/own-checks.ts";
import { isLookup } from "./email-chunks.ts";
import type { ScanRecord } from "./record.ts";

/**
 * Records on each domain whose batch is done that its e-mails were checked at `planAt`. Other domains keep their earlier watermark,
 * which is too early for some of their e-mails and too late for none, until a later try to end the scan finds their batch done.
 */
export const setWatermarks = async (
  org: number,
  scan: ScanRecord,
  allDomains: readonly Domain[],
): Promise<void> => {
  const isDone = ({ planBatch = 0 }: Domain): boolean =>
    Object.keys(scan.remaining[planBatch] ?? { "": 0 }).every(isLookup);
  const checked = allDomains.filter(
    (domain) =>
      domain.plannedByScan === scan.id &&
      domain.planState === "checked" &&
      domain.checkedByScan < scan.id &&
      isDone(domain),
  );
  const noted = checked.length > 0 ? (await ownChecks(org)).domains : new Set();
  for (const { id, planAt } of checked) {
    // Not written: another worker ends this scan, or the domain was unverified or claimed by a later scan.
    const { written } = await table.attempt(
      table.update(keys.domain(org, id), {
        set: { checkedByScan: scan.id, checkedAt: planAt },
        if: condition("#plannedByScan = :scan AND #planState = :checked AND #checkedByScan < :scan", {
          scan: scan.id,
          checked: "checked",
        }),
      }),
    );
    if (written && noted.has(id)) await forgetDomain(org, id);
  }
};
