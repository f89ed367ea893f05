import { type FindingGroup, type FindingRecord, findings } from "../../findings/record.ts";
import { levelOf } from "../../hibp/severity.ts";
import { type Severity, severities } from "../../hibp/severity-schema.ts";
import { blockOf, blockSize } from "../../lists/blocks.ts";

/** For 131,072 findings. A million of them would take an attempt more time and memory than its function has. */
const maximumBlocks = 131_072 / blockSize;

const attributes = [
  "id",
  "group",
  "emailId",
  "email",
  "breachId",
  "stealerLogDomains",
  "isToldApart",
] as const;
export type ScanFinding = Pick<FindingRecord, Exclude<(typeof attributes)[number], "isToldApart">> & {
  isToldApart?: boolean | undefined;
};

/**
 * Whether messages of its scan tell people of a finding. One that a rule has ended leaves nothing to do, and where
 * it is open again another message tells it. Webhooks are told of all.
 */
export const isForPeople = (row: Pick<ScanFinding, "group" | "isToldApart">): boolean =>
  !isEndedByRule(row) && row.isToldApart !== true;

const isEndedByRule = (row: Pick<FindingRecord, "group">): boolean => findings.groupOf(row).endedBy !== 0;

/**
 * `bySeverity`: without those that rules have ended. `isWhole`: `rows` gives all findings, and not only those of
 * the first blocks.
 */
type ScanFindings = {
  bySeverity: Record<Severity, number>;
  isWhole: boolean;
  /** In the order of their ids. */
  rows: () => AsyncGenerator<ScanFinding[]>;
};

/**
 * What scans have found. `rows`, from the block with the finding `from` on, costs the read units of the
 * blocks that hold any.
 */
export const findingsOfScans = async (
  org: number,
  scanIds: ReadonlySet<number>,
  from = 1,
): Promise<ScanFindings> => {
  const isOfScan = ({ scanId }: FindingGroup): boolean => scanId !== null && scanIds.has(scanId);
  const tally = await findings.tally(org);
  const blocks = findings.blocks(tally, isOfScan).filter((block) => block >= blockOf(from));
  const countOf = (severity: Severity): number =>
    findings.sum(
      tally,
      (group) => isOfScan(group) && group.severity === levelOf(severity) && group.endedBy === 0,
    );
  return {
    bySeverity: bySeverityOf(countOf),
    isWhole: blocks.length <= maximumBlocks,
    rows: async function* () {
      const read = blocks.slice(0, maximumBlocks);
      for await (const rows of findings.membersOf(org, read, { project: attributes }))
        yield rows.filter((row) => isOfScan(findings.groupOf(row)));
    },
  };
};

/** These findings, of whichever scans, in the same form; without those that are acknowledged. */
export const openFindings = async (org: number, ids: readonly number[]): Promise<ScanFindings> => {
  const all = await findings.getMany(org, ids);
  const rows = all
    .filter((row) => row !== undefined)
    .filter((row) => !findings.groupOf(row).acknowledged)
    .map((row) => ({ ...row, isToldApart: undefined }));
  const countOf = (severity: Severity): number =>
    rows.filter((row) => findings.groupOf(row).severity === levelOf(severity)).length;
  return {
    bySeverity: bySeverityOf(countOf),
    isWhole: true,
    rows: async function* () {
      yield rows;
    },
  };
};

const bySeverityOf = (countOf: (severity: Severity) => number): ScanFindings["bySeverity"] =>
  Object.fromEntries(severities.map((each) => [each, countOf(each)])) as ScanFindings["bySeverity"];
