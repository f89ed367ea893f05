import { audit, type Report } from "../../../shared/operations/audit/audit.ts";
import type { Commands } from "../command.ts";
import { findOrganization } from "../flags.ts";
import { showProgress } from "../progress.ts";

export const checkCommand: Commands = {
  check: {
    about:
      "Compares an organization's rows with each other; exits 1 when there are differences; --repair repairs them.",
    flags: { org: "required ID", repair: "switch" },
    isAct: ({ repair }) => repair !== undefined,
    run: async (flags) => {
      const { id } = await findOrganization(flags);
      const progress = (kind: string, done: number, total: number): void =>
        showProgress(`Checking ${kind} blocks: ${done} of ${total}`);
      return { id, ...(await audit(id, { repair: flags.repair !== undefined, progress })) };
    },
    print: (report: Report) => printReport(report),
    isWrong: ({ differenceCount, repairedCount, unsettled }: Report) =>
      differenceCount > repairedCount || unsettled.length > 0,
  },
};

const printReport = (report: Report): string => {
  const { checked, differences, differenceCount, repairedCount, unsettled } = report;
  const lines = Object.entries(checked).map(
    ([kind, { rows, blocks }]) => `${kind.padEnd(16)}  ${String(rows).padStart(9)} rows in ${blocks} blocks`,
  );
  for (const { kind, id, says, repaired, advice } of differences) {
    lines.push(`${repaired ? "repaired" : "differs"}: ${kind} ${id}: ${says}${advice ? `. ${advice}` : ""}`);
  }
  const unlisted = differenceCount - differences.length;
  if (unlisted > 0) lines.push(`… and ${unlisted} more.`);
  for (const { kind, id } of unsettled) {
    lines.push(`${kind} ${id} kept changing while it was read: check again.`);
  }
  const left = differenceCount - repairedCount;
  lines.push(
    differenceCount === 0
      ? "No differences."
      : `${differenceCount} differences: ${repairedCount} repaired, ${left} left.${
          left > 0 && repairedCount === 0 ? " --repair corrects what follows from other rows." : ""
        }`,
  );
  return `${lines.join("\n")}\n`;
};
