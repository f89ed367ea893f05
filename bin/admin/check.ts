import { check, type Progress, type Report } from "../../shared/check/check.ts";

/** Checks an organization, with its progress on a terminal. */
export const checkOrganization = async (
  org: number,
  { repair }: { repair: boolean },
): Promise<{ id: number } & Report> => {
  const progress = process.stderr.isTTY ? progressOn(process.stderr) : undefined;
  try {
    return { id: org, ...(await check(org, { repair, ...(progress && { progress: progress.tell }) })) };
  } finally {
    progress?.end();
  }
};

/** Whether differences remain, or nothing can be said. */
export const isWrong = ({ differenceCount, repairedCount, unsettled }: Report): boolean =>
  differenceCount > repairedCount || unsettled.length > 0;

/** A report for people. */
export const printReport = (report: Report): string => {
  const { checked, differences, differenceCount, repairedCount, unsettled } = report;
  const lines = Object.entries(checked).map(
    ([kind, { rows, blocks }]) =>
      `${kind.padEnd(10)}  ${String(rows).padStart(9)} rows${blocks === null ? "" : ` in ${blocks} blocks`}`,
  );
  for (const { kind, id, says, repaired, advice } of differences) {
    lines.push(`${repaired ? "repaired" : "differs"}: ${kind} ${id}: ${says}${advice ? `. ${advice}` : ""}`);
  }
  const untold = differenceCount - differences.length;
  if (untold > 0) lines.push(`… and ${untold} more.`);
  for (const { kind, id } of unsettled) {
    lines.push(`${kind} ${id} kept changing while it was read: check again.`);
  }
  const left = differenceCount - repairedCount;
  lines.push(
    differenceCount === 0
      ? "No differences."
      : `${differenceCount} differences: ${repairedCount} repaired, ${left} left.${
          left > 0 && repairedCount === 0 ? " --repair mends what follows from other rows." : ""
        }`,
  );
  return `${lines.join("\n")}\n`;
};

const everyMilliseconds = 100;

const progressOn = (stream: NodeJS.WriteStream): { tell: Progress; end: () => void } => {
  let last = 0;
  return {
    tell: (kind, done, of) => {
      if (Date.now() - last < everyMilliseconds) return;
      last = Date.now();
      stream.write(`\r\x1b[KChecking ${kind}: ${done} of ${of}`);
    },
    end: () => stream.write("\r\x1b[K"),
  };
};
