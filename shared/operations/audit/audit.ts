/**
 * Recomputes from an organization's rows what follows from other rows: counters and directories of its lists,
 * what e-mails say about their findings, seats, locks, entries of the due index. The service may be at work
 * at the same time: a difference is reported only if repeated readings show it.
 */
import { entries } from "../../access/activity/activity.ts";
import { deliveries } from "../../alerting/deliveries/delivery.ts";
import { findings } from "../../findings/record.ts";
import { emails } from "../../monitoring/emails/record.ts";
import { unwatched } from "../../monitoring/unwatched/record.ts";
import { scans } from "../../scanning/record.ts";
import { compareCounts } from "./counts.ts";
import { type Difference, Inspector, type Subject } from "./inspector.ts";
import { auditList, type Context, type Progress } from "./list.ts";
import { compareSeverities } from "./locks.ts";
import { deliveriesOf, emailsOf, findingsOf, isOpen } from "./members.ts";
import { auditOrganization, compareSeats } from "./organization.ts";

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
  // Findings are read first, because their e-mails and scans are written in the same transaction or earlier.
  const findingAudit = await auditList(context, findings, findingsOf(org));
  const emailAudit = await auditList(context, emails, emailsOf(org));
  const openScans = new Set<number>();
  const scanAudit = await auditList(context, scans, async (members) => {
    for (const row of members) if (isOpen(row)) openScans.add(row.id);
    return [];
  });
  const lists = {
    emails: emailAudit,
    findings: findingAudit,
    scans: scanAudit,
    activity: await auditList(context, entries, async () => []),
    deliveries: await auditList(context, deliveries, deliveriesOf(org)),
    unwatched: await auditList(context, unwatched, async () => []),
  };
  await auditOrganization(context, [...openScans]);
  // These follow from lists, and repairs of findings and e-mails change what they should be.
  if (emailAudit.isRight) await inspector.check(() => compareSeats(org));
  await inspector.check(() => compareCounts(org));
  await inspector.check(() => compareSeverities(org));
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
