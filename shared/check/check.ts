/**
 * Recomputes everything of an organization that other rows make: every counter and directory row of its lists, what
 * e-mails say of their findings, seats, locks, entries of the due index. It works on live data: only what stays different
 * when it is read again is told.
 */
import { entries } from "../activity/activity.ts";
import { deliveries } from "../alerts/delivery.ts";
import { emails } from "../emails/record.ts";
import { findings } from "../findings/record.ts";
import * as domains from "../organizations/domain.ts";
import * as teams from "../organizations/team.ts";
import { scans } from "../scans/record.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { beginExamination, type Difference, type Examination, type Subject } from "./difference.ts";
import { isDueRight, lookAtDelivery, shardOfDelivery } from "./due.ts";
import { agrees, lookAtAddress, lookAtHolding, lookAtOwners, lookAtUnheld } from "./email.ts";
import { isAcknowledgmentRight, lookAtAcknowledgment, lookAtCategory, lookAtScanOf } from "./facet.ts";
import { FindingIndex } from "./finding-index.ts";
import { goThrough, type Passed } from "./list.ts";
import { checkOrganization } from "./organization.ts";
import { isCountRight, isOpen, lookAtCounts, lookAtLock, lookAtOpenScan } from "./scan.ts";

export type Report = {
  /** What was gone through. */
  checked: Record<string, { rows: number; blocks: number | null }>;
  /** The first thousand; in ids and counts only. */
  differences: Difference[];
  differenceCount: number;
  repairedCount: number;
  /** What kept changing while it was read. */
  unsettled: Subject[];
};

export type Progress = (kind: string, done: number, of: number) => void;

/**
 * Checks an organization; with `repair` mends what follows from other rows, each on condition that it is still as it was
 * read. Findings are kept in mind in 21 bytes each, of everything else a few blocks.
 */
export const check = async (
  org: number,
  { repair = false, progress = () => {} }: { repair?: boolean; progress?: Progress } = {},
): Promise<Report> => {
  const examination = beginExamination({ repair });
  const context: Context = { org, examination, progress };
  const index = new FindingIndex();
  // Findings before their e-mails and scans: what is written meanwhile is then there when it is looked for.
  const ofFindings = await checkFindings(context, index);
  const ofEmails = await checkEmails(context, index);
  await examination.examineAll("finding", [...index.unheld()], lookAtUnheld(org));
  const ofScans = await checkScans(context, ofFindings);
  const ofActivity = await checkActivity(context);
  const ofDeliveries = await checkDeliveries(context);
  const activeExcess = [...ofEmails.excess].reduce(
    (sum, [facet, by]) => sum + (emails.facetOf({ facet }).isActive ? by : 0),
    0,
  );
  const others = await checkOrganization(org, examination, { activeExcess });
  const { differences, differenceCount, repairedCount, unsettled } = examination;
  return {
    checked: {
      ...Object.fromEntries(
        Object.entries({
          emails: ofEmails,
          findings: ofFindings,
          scans: ofScans,
          activity: ofActivity,
          deliveries: ofDeliveries,
        }).map(([kind, { rows, blocks }]) => [kind, { rows, blocks }]),
      ),
      ...Object.fromEntries(Object.entries(others).map(([kind, rows]) => [kind, { rows, blocks: null }])),
    },
    differences,
    differenceCount,
    repairedCount,
    unsettled,
  };
};

type Context = { org: number; examination: Examination; progress: Progress };

type FindingsPassed = Passed & { countByScan: Map<number, number> };

const checkFindings = async (
  { org, examination, progress }: Context,
  index: FindingIndex,
): Promise<FindingsPassed> => {
  const countByScan = new Map<number, number>();
  const missingScans = new Set<number>();
  const passed = await goThrough(org, findings, examination, {
    attributes: ["emailId", "breachId", "lastSeenAt", "acknowledgment"],
    progress: (done, of) => progress("findings", done, of),
    visit: async (members) => {
      const wrong = members.filter((row) => !isAcknowledgmentRight(row)).map(({ id }) => id);
      await examination.examineAll("finding", wrong, lookAtAcknowledgment(org));
      const again = await findings.getMany(org, wrong);
      const mended = new Map(again.map((row) => [row?.id, row]));
      const orphans: number[] = [];
      for (const read of members) {
        const row = mended.get(read.id) ?? read;
        index.add(row);
        const { scanId } = findings.facetOf(row);
        if (scanId === null) continue;
        const count = countByScan.get(scanId) ?? 0;
        countByScan.set(scanId, count + 1);
        if (count === 0 && (await scans.get(org, scanId)) === undefined) missingScans.add(scanId);
        if (missingScans.has(scanId)) orphans.push(row.id);
      }
      await examination.examineAll("finding", orphans, lookAtScanOf(org));
    },
  });
  return { ...passed, countByScan };
};

const checkEmails = async ({ org, examination, progress }: Context, index: FindingIndex): Promise<Passed> => {
  const domainIds = new Set((await domains.list(org)).map(({ id }) => id));
  const teamIds = new Set((await teams.list(org)).map(({ id }) => id));
  return goThrough(org, emails, examination, {
    attributes: ["email", "findings", "gone", "unacknowledged"],
    progress: (done, of) => progress("e-mails", done, of),
    visit: async (members) => {
      const idsOf = (rows: readonly { id: number }[]) => rows.map(({ id }) => id);
      const addresses = await table.getMany<{ emailId: number }>(
        members.map((row) => keys.address(org, row.email)),
      );
      const unnamed = members.filter((row, at) => addresses[at]?.emailId !== row.id);
      const unowned = members.filter((row) => {
        const { domainId, teamId } = emails.facetOf(row);
        return !domainIds.has(domainId) || (teamId !== null && !teamIds.has(teamId));
      });
      const disagreeing = members.filter((row) => !agrees(row, index));
      await examination.examineAll("e-mail", idsOf(disagreeing), lookAtHolding(org));
      await examination.examineAll("e-mail", idsOf(unnamed), lookAtAddress(org));
      await examination.examineAll("e-mail", idsOf(unowned), lookAtOwners(org));
    },
  });
};

const checkScans = async (
  { org, examination, progress }: Context,
  ofFindings: FindingsPassed,
): Promise<Passed> => {
  const open: number[] = [];
  const passed = await goThrough(org, scans, examination, {
    attributes: ["newBreachesFound", "totalEmails", "scannedEmails", "failedEmails"],
    progress: (done, of) => progress("scans", done, of),
    visit: async (members) => {
      open.push(...members.filter(isOpen).map(({ id }) => id));
      const wrong = members.filter((row) => !isCountRight(row, ofFindings.countByScan.get(row.id) ?? 0));
      await examination.examineAll(
        "scan",
        wrong.map(({ id }) => id),
        lookAtCounts(org, ofFindings.excess),
      );
    },
  });
  await examination.examine({ kind: "scan lock", id: org }, lookAtLock(org));
  // One after the other: one of them can have the lock.
  for (const id of open) await examination.examine({ kind: "scan", id }, lookAtOpenScan(org)(id));
  return passed;
};

const checkActivity = ({ org, examination, progress }: Context): Promise<Passed> =>
  goThrough(org, entries, examination, {
    attributes: ["category"],
    progress: (done, of) => progress("activity", done, of),
    visit: async (members) => {
      const wrong = members.filter((row) => entries.facetOf(row).category !== row.category);
      await examination.examineAll(
        "activity entry",
        wrong.map(({ id }) => id),
        lookAtCategory(org),
      );
    },
  });

const checkDeliveries = ({ org, examination, progress }: Context): Promise<Passed> =>
  goThrough(org, deliveries, examination, {
    attributes: ["status", "dueShard", "dueAt"],
    progress: (done, of) => progress("deliveries", done, of),
    visit: async (members) => {
      const wrong = members.filter((row) => !isDueRight(row, shardOfDelivery(row)));
      await examination.examineAll(
        "delivery",
        wrong.map(({ id }) => id),
        lookAtDelivery(org),
      );
    },
  });
