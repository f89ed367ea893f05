/**
 * Recomputes from an organization's rows what follows from other rows: counters and tallies of its lists,
 * what e-mails say about their findings, seats, locks, entries of the due index. The service may be at work
 * at the same time: a difference is reported only if repeated readings show it.
 */
import { entries } from "../../access/activity/activity.ts";
import { deliveries } from "../../alerting/deliveries/delivery.ts";
import { findings } from "../../findings/record.ts";
import { emails } from "../../monitoring/emails/record.ts";
import { groups } from "../../people/group.ts";
import { people } from "../../people/person.ts";
import { scans } from "../../scanning/record.ts";
import { compareCounts } from "./counts.ts";
import { type Difference, Inspector, type Subject } from "./inspector.ts";
import { auditList, type Context, type Progress } from "./list.ts";
import { compareAcknowledgements, compareScanLock, compareSeverities } from "./locks.ts";
import { deliveriesOf, emailsOf, findingsOf } from "./members.ts";
import { compareAllNames } from "./names.ts";
import { compareCounters, compareSeats, compareUnwatched, compareWork } from "./organization.ts";

export type Report = {
  /** How many members of each list were read. */
  checked: Record<string, { rows: number; blocks: number }>;
  /** The first thousand. Differences hold ids and counts only. */
  differences: Difference[];
  differenceCount: number;
  repairedCount: number;
  /** Subjects that changed during every reading, so that nothing is known about them. */
  unsettled: Subject[];
};

/**
 * Audits an organization. `repair` corrects what follows from other rows, on the condition that those rows
 * are as they were read. Takes the memory of a block.
 */
export const audit = async (
  org: number,
  { repair = false, progress = () => {} }: { repair?: boolean; progress?: Progress } = {},
): Promise<Report> => {
  const inspector = new Inspector({ repair });
  const context: Context = { org, inspector, progress };
  const lists = {
    // First, because their e-mails are written in the same transaction or earlier.
    findings: await auditList(context, findings, findingsOf(org)),
    emails: await auditList(context, emails, emailsOf(org)),
    scans: await auditList(context, scans, async () => []),
    activity: await auditList(context, entries, async () => []),
    deliveries: await auditList(context, deliveries, deliveriesOf(org)),
    people: await auditList(context, people, async () => []),
    groups: await auditList(context, groups, async () => []),
  };
  for (const comparison of [
    () => compareCounters(org),
    () => compareAllNames(org),
    () => compareWork(org),
    () => compareUnwatched(org),
    () => compareScanLock(org),
    () => compareAcknowledgements(org),
    // These follow from lists, and repairs of findings and e-mails change what they should be.
    ...(lists.emails.isRight ? [() => compareSeats(org)] : []),
    () => compareCounts(org),
    () => compareSeverities(org),
  ])
    await inspector.check(comparison);
  const { differences, differenceCount, repairedCount, unsettled } = inspector;
  return {
    checked: Object.fromEntries(
      Object.entries(lists).map(([kind, { rows, blocks }]) => [kind, { rows, blocks }]),
    ),
    differences,
    differenceCount,
    repairedCount,
    unsettled,
  };
};
