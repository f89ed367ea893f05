/** The e-mails of a seeded organization: an e-mail for each address. */

import { keys } from "../../shared/aws/table/keys.ts";
import { rowOfEmail } from "../../shared/monitoring/domains/own-checks.ts";
import { type EmailRow, emails, exposureOf, ofHand } from "../../shared/monitoring/emails/record.ts";
import { ownerWordRows } from "../../shared/monitoring/emails/search.ts";
import { addressOf, domainIndexOf, isActive } from "./addresses.ts";
import type { FindingTotals } from "./findings.ts";
import { buildList } from "./list-rows.ts";
import { type Clock, org, type Row, teamCount, timeOfScan } from "./shape.ts";

/** `lastScan`: the id of the latest scan, or 0 when no scan has looked at these e-mails yet. */
export const emailRows = function* (
  addresses: number,
  clock: Clock,
  { lastScan, totals }: { lastScan: number; totals: FindingTotals },
): Generator<Row> {
  /** Ids of disabled e-mails by the row of own checks that they belong to. */
  const disabled = new Map<number, Set<number>>();
  const list = buildList("EMAIL");
  for (let index = 0; index < addresses; index++) {
    const email = addressOf(index);
    const reserved = list.reserve(clock(0, 1));
    if (!isActive(index)) {
      const row = rowOfEmail(reserved.id);
      disabled.set(row, (disabled.get(row) ?? new Set()).add(reserved.id));
    }
    const lastScannedBy = isActive(index) ? (totals.lastScans[index] ?? 0) : lastScan;
    const row: EmailRow = {
      email,
      ownerName: `Owner ${index}`,
      afterScan: 0,
      lastScannedAt: lastScannedBy === 0 ? null : timeOfScan(clock, lastScannedBy),
      findings: totals.findingIds[index] ?? {},
      ...Object.fromEntries(
        totals.openByLevel
          .map((ofLevel, at): [string, number] => [`open${at + 1}`, ofLevel[index] ?? 0])
          .filter(([, count]) => count > 0),
      ),
    };
    const team = index % (teamCount + 1);
    const group = {
      domainId: domainIndexOf(index) + 1,
      teamId: team === 0 ? null : team,
      isActive: isActive(index),
      ...ofHand,
      exposure: exposureOf(row),
    };
    yield { ...keys.address(org, email), emailId: reserved.id, domainId: group.domainId };
    yield* ownerWordRows(org, { id: reserved.id, domainId: group.domainId, ownerName: row.ownerName });
    yield list.memberRow(emails.put(org, reserved, group, row));
  }
  yield* list.remainingRows();
  for (const [row, ids] of disabled) yield { ...keys.ownChecksOfEmails(org, row), ids };
};
