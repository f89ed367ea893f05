/**
 * Recomputes from an organization's rows what follows from other rows: counters and directories of its lists,
 * what e-mails say about their findings, seats, locks, entries of the due index. The service may be at work
 * at the same time: a difference is reported only if repeated readings show it.
 */
import { entries } from "../../access/activity/activity.ts";
import { deliveries } from "../../alerting/deliveries/delivery.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { findings } from "../../findings/record.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { emails } from "../../monitoring/emails/record.ts";
import * as teams from "../../monitoring/teams/team.ts";
import { scans } from "../../scanning/record.ts";
import { inspectCategory } from "./activity.ts";
import { agreesWithCounts, inspectCountsOfAll, Recount } from "./counts.ts";
import { inspectDeliveryDue, isDueRight, shardOfDelivery } from "./due-index.ts";
import { agreesWithFindings, inspectAddress, inspectDomainAndTeam, inspectFindings } from "./email.ts";
import { inspectAcknowledgment, inspectFirstScan, inspectHolder, isAcknowledgmentRight } from "./finding.ts";
import { FindingIndex } from "./finding-index.ts";
import { createInspector, type Difference, type Inspector, type Subject } from "./inspector.ts";
import { auditList, type ListAudit } from "./list.ts";
import { auditOrganization } from "./organization.ts";
import { inspectCounts, inspectLock, inspectOpenScan, isCountRight, isOpen } from "./scan.ts";

export type Report = {
  /** How many rows of each kind were read. `blocks` is null for kinds that are no lists. */
  checked: Record<string, { rows: number; blocks: number | null }>;
  /** The first thousand. Differences hold ids and counts only. */
  differences: Difference[];
  differenceCount: number;
  repairedCount: number;
  /** Subjects that changed during every reading, so that nothing is known about them. */
  unsettled: Subject[];
};

/** Is called with the number of rows of a kind that are done, and the number of all. */
export type Progress = (kind: string, done: number, total: number) => void;

/**
 * Audits an organization. `repair` corrects what follows from other rows, on the condition that those rows
 * are as they were read. Takes 25 bytes of memory for each finding, and a few blocks of each list.
 */
export const audit = async (
  org: number,
  { repair = false, progress = () => {} }: { repair?: boolean; progress?: Progress } = {},
): Promise<Report> => {
  const inspector = createInspector({ repair });
  const context: Context = { org, inspector, progress, recount: new Recount() };
  const index = new FindingIndex();
  // Findings are read first, because their e-mails and scans are written in the same transaction or earlier.
  const findingAudit = await auditFindings(context, index);
  const emailAudit = await auditEmails(context, index);
  await inspector.inspectAll("finding", [...index.unheld()], inspectHolder(org));
  const lists = {
    emails: emailAudit,
    findings: findingAudit,
    scans: await auditScans(context, findingAudit),
    activity: await auditActivity(context),
    deliveries: await auditDeliveries(context),
  };
  const activeExcess = [...emailAudit.excess].reduce(
    (sum, [groupKey, excess]) => sum + (emails.groupOf({ group: groupKey }).isActive ? excess : 0),
    0,
  );
  const others = await auditOrganization(org, inspector, { activeExcess });
  // Last, since repairs of findings and e-mails change what the counts should be.
  if (inspector.repairedCount > 0 || !(await agreesWithCounts(org, context.recount))) {
    await inspector.inspect({ kind: "counts", id: org }, inspectCountsOfAll(org));
  }
  const { differences, differenceCount, repairedCount, unsettled } = inspector;
  return {
    checked: Object.fromEntries([
      ...Object.entries(lists).map(([kind, { rows, blocks }]) => [kind, { rows, blocks }]),
      ...Object.entries(others).map(([kind, rows]) => [kind, { rows, blocks: null }]),
    ]),
    differences,
    differenceCount,
    repairedCount,
    unsettled,
  };
};

type Context = { org: number; inspector: Inspector; progress: Progress; recount: Recount };

type FindingAudit = ListAudit & { countByScan: Map<number, number> };

const idsOf = (rows: readonly { id: number }[]): number[] => rows.map(({ id }) => id);

const auditFindings = async (
  { org, inspector, progress, recount }: Context,
  index: FindingIndex,
): Promise<FindingAudit> => {
  const countByScan = new Map<number, number>();
  const missingScans = new Set<number>();
  const list = await auditList(org, findings, inspector, {
    attributes: ["emailId", "breachId", "firstDetectedAt", "lastSeenAt", "acknowledgment"],
    progress: (done, total) => progress("findings", done, total),
    visit: async (members) => {
      recount.addFindings(members);
      const wrong = idsOf(members.filter((row) => !isAcknowledgmentRight(row)));
      await inspector.inspectAll("finding", wrong, inspectAcknowledgment(org));
      const repaired = new Map((await findings.getMany(org, wrong)).map((row) => [row?.id, row]));
      const withoutScan: number[] = [];
      for (const member of members) {
        const row = repaired.get(member.id) ?? member;
        index.add(row);
        const { scanId } = findings.groupOf(row);
        if (scanId === null) continue;
        const count = countByScan.get(scanId) ?? 0;
        countByScan.set(scanId, count + 1);
        if (count === 0 && (await scans.get(org, scanId)) === undefined) missingScans.add(scanId);
        if (missingScans.has(scanId)) withoutScan.push(row.id);
      }
      await inspector.inspectAll("finding", withoutScan, inspectFirstScan(org));
    },
  });
  return { ...list, countByScan };
};

const auditEmails = async (
  { org, inspector, progress, recount }: Context,
  index: FindingIndex,
): Promise<ListAudit> => {
  const domainIds = new Set(idsOf(await domains.list(org)));
  const teamIds = new Set(idsOf(await teams.list(org)));
  return auditList(org, emails, inspector, {
    attributes: ["email", "findings", "gone", "unacknowledged"],
    progress: (done, total) => progress("e-mails", done, total),
    visit: async (members) => {
      recount.addEmails(members);
      const addresses = await table.getMany<{ emailId: number }>(
        members.map((row) => keys.address(org, row.email)),
      );
      const unnamed = members.filter((row, at) => addresses[at]?.emailId !== row.id);
      const unowned = members.filter((row) => {
        const { domainId, teamId } = emails.groupOf(row);
        return !domainIds.has(domainId) || (teamId !== null && !teamIds.has(teamId));
      });
      const disagreeing = members.filter((row) => !agreesWithFindings(row, index));
      await inspector.inspectAll("e-mail", idsOf(disagreeing), inspectFindings(org));
      await inspector.inspectAll("e-mail", idsOf(unnamed), inspectAddress(org));
      await inspector.inspectAll("e-mail", idsOf(unowned), inspectDomainAndTeam(org));
    },
  });
};

const auditScans = async (
  { org, inspector, progress }: Context,
  { countByScan, excess }: FindingAudit,
): Promise<ListAudit> => {
  const open: number[] = [];
  const list = await auditList(org, scans, inspector, {
    attributes: ["newBreachesFound", "totalEmails", "scannedEmails", "failedEmails"],
    progress: (done, total) => progress("scans", done, total),
    visit: async (members) => {
      open.push(...idsOf(members.filter(isOpen)));
      const wrong = members.filter((row) => !isCountRight(row, countByScan.get(row.id) ?? 0));
      await inspector.inspectAll("scan", idsOf(wrong), inspectCounts(org, excess));
    },
  });
  await inspector.inspect({ kind: "scan lock", id: org }, inspectLock(org));
  // One scan after another, since a repair gives the lock to one scan only.
  for (const id of open) await inspector.inspect({ kind: "scan", id }, inspectOpenScan(org)(id));
  return list;
};

const auditActivity = ({ org, inspector, progress }: Context): Promise<ListAudit> =>
  auditList(org, entries, inspector, {
    attributes: ["category"],
    progress: (done, total) => progress("activity", done, total),
    visit: async (members) => {
      const wrong = members.filter((row) => entries.groupOf(row).category !== row.category);
      await inspector.inspectAll("activity entry", idsOf(wrong), inspectCategory(org));
    },
  });

const auditDeliveries = ({ org, inspector, progress, recount }: Context): Promise<ListAudit> =>
  auditList(org, deliveries, inspector, {
    attributes: ["status", "dueShard", "dueAt"],
    progress: (done, total) => progress("deliveries", done, total),
    visit: async (members) => {
      recount.addDeliveries(members);
      const wrong = members.filter((row) => !isDueRight(row, shardOfDelivery(row)));
      await inspector.inspectAll("delivery", idsOf(wrong), inspectDeliveryDue(org));
    },
  });
