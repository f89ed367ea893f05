import { type FindingGroup, type FindingRecord, findings } from "../../findings/record.ts";
import { levelOf } from "../../hibp/severity.ts";
import { type Severity, severities } from "../../hibp/severity-schema.ts";
import { blockOf, blockSize } from "../../lists/blocks.ts";

/** For 131,072 findings. A million of them would take an attempt more time and memory than its function has. */
const maximumBlocks = 131_072 / blockSize;

const attributes = ["id", "group", "emailId", "email", "breachId", "stealerLogDomains"] as const;
export type ScanFinding = Pick<FindingRecord, (typeof attributes)[number]>;

/** `isWhole`: `rows` gives all findings, and not only those of the first blocks. */
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
  const directory = await findings.directory(org);
  const blocks = findings.blocks(directory, isOfScan).filter((block) => block >= blockOf(from));
  const countOf = (severity: Severity): number =>
    findings.sum(directory, (group) => isOfScan(group) && group.severity === levelOf(severity));
  return {
    bySeverity: Object.fromEntries(
      severities.map((each) => [each, countOf(each)]),
    ) as ScanFindings["bySeverity"],
    isWhole: blocks.length <= maximumBlocks,
    rows: async function* () {
      const read = blocks.slice(0, maximumBlocks);
      for await (const rows of findings.membersOf(org, read, { project: attributes }))
        yield rows.filter((row) => isOfScan(findings.groupOf(row)));
    },
  };
};
