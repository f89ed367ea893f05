import { chunk } from "../../aws/table/chunk.ts";
import { type FindingGroup, type FindingRecord, findings } from "../../findings/record.ts";

/** Blocks read at the same time. */
const concurrency = 16;

const attributes = ["id", "group", "emailId", "email", "breachId"] as const;
export type FoundRow = Pick<FindingRecord, (typeof attributes)[number]>;

/** The findings of scans, block by block. Costs the read units of the blocks that hold any. */
export async function* foundIn(org: number, scanIds: ReadonlySet<number>): AsyncGenerator<FoundRow[]> {
  const isOfScan = ({ scanId }: FindingGroup): boolean => scanId !== null && scanIds.has(scanId);
  for (const part of chunk(findings.blocks(await findings.directory(org), isOfScan), concurrency)) {
    const read = await Promise.all(
      part.map((block) => findings.members(org, block, { project: attributes })),
    );
    for (const rows of read) yield rows.filter((row) => isOfScan(findings.groupOf(row)));
  }
}
