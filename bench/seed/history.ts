/** Scans and activity of a seeded organization. */
import { type Action, categoryOf } from "../../shared/access/activity/actions.ts";
import { entries } from "../../shared/access/activity/activity.ts";
import { scans } from "../../shared/scanning/record.ts";
import { buildList } from "./list-rows.ts";
import { actor, bulkScan, type Clock, days, org, type Row, scanCount, secondScan } from "./shape.ts";

/** `countsByScan`: new findings of the scans that have any. */
export const scanRows = function* (
  clock: Clock,
  addresses: number,
  countsByScan: ReadonlyMap<number, number>,
): Generator<Row> {
  const list = buildList("SCAN");
  for (let scan = 1; scan <= scanCount; scan++) {
    const failed = scan % 50 === 25;
    const type = scan === bulkScan ? "manual" : scan === secondScan ? "catalog_triggered" : "scheduled";
    yield list.memberRow(
      scans.put(
        org,
        list.reserve(clock(scan)),
        { type, status: failed ? "failed" : "completed" },
        {
          startedAt: clock(scan, 1),
          completedAt: clock(scan, 300),
          errorMessage: failed ? "Have I Been Pwned did not answer" : null,
          findingsItemized: !failed,
          totalEmails: addresses,
          scannedEmails: failed ? 0 : addresses,
          failedEmails: failed ? addresses : 0,
          skippedEmails: 0,
          isFirst: scan === 1,
          newBreachesFound: countsByScan.get(scan) ?? 0,
          planned: !failed,
          remaining: {},
        },
      ),
    );
  }
  yield* list.remainingRows();
};

const frequentActions: Action[] = [
  "finding.acknowledged",
  "scan.started",
  "finding.acknowledged",
  "scan.completed",
  "email.added",
];

export const activityRows = function* (count: number, clock: Clock): Generator<Row> {
  const list = buildList("ACTIVITY");
  for (let index = 0; index < count; index++) {
    // One entry in a hundred is of a rare category, so that a filter can match 1 %.
    const action =
      index % 100 === 99 ? "alert_config.updated" : (frequentActions[index % 5] ?? "email.added");
    const category = categoryOf[action];
    yield list.memberRow(
      entries.put(
        org,
        list.reserve(clock((days * index) / count, 10)),
        { category },
        { action, category, summary: `What happened at ${index}, in about as many words as usual`, actor },
      ),
    );
  }
  yield* list.remainingRows();
};
