import { chunk } from "../../aws/table/chunk.ts";
import * as table from "../../aws/table/table.ts";
import { blockOf, firstIdOf } from "../../lists/blocks.ts";
import { findings } from "../record.ts";
import { IdRanges } from "./id-ranges.ts";
import { type AcknowledgementRow, laneOf } from "./record.ts";
import { attributesOf, isOf, type Selection } from "./selection.ts";

/** A finding that a request may be about, as it was read. */
export type Candidate = {
  id: number;
  emailId: number;
  breachId: number;
  firstDetectedAt: string;
  group: string;
  /** When it was acknowledged before, if it was. */
  acknowledgedAt: string | undefined;
};

/** Reads candidates of one lane behind a cursor, ascending by id, some at a time. Each part says up to which id it has read. */
export type Source = (lane: number, cursor: number) => AsyncGenerator<Part, void, undefined>;
export type Part = { candidates: Candidate[]; upTo: number };

/** Ids that are read in one request. */
const idsPerRead = 100;

const attributes = ["id", "emailId", "breachId", "firstDetectedAt", "group", "acknowledgment.at"];

/** Where the lanes of a request get their findings from. Reads the directory once, for all lanes. */
export const sourceOf = async (org: number, { selection, slot }: AcknowledgementRow): Promise<Source> => {
  if (selection === undefined) throw new Error("A request that is in progress has no selection");
  const isEarlier = ({ acknowledgedAt = "" }: Candidate): boolean => acknowledgedAt <= slot.createdAt;
  const read = "ids" in selection ? byIds(org, selection.ids) : await byFilter(org, selection);
  return async function* (lane, cursor) {
    for await (const { candidates, upTo } of read(lane, cursor)) {
      // What somebody has acknowledged after the request stays as it is.
      yield { candidates: candidates.filter(isEarlier), upTo };
    }
  };
};

const byIds = (org: number, ids: readonly number[]): Source =>
  async function* (lane, cursor) {
    const ahead = ids.filter((id) => id > cursor && laneOf(blockOf(id)) === lane);
    for (const some of chunk(ahead, idsPerRead)) {
      const rows = await table.getManyWire(
        some.map((id) => findings.key(org, id)),
        { project: attributes },
      );
      const candidates = rows.map((row) => candidateOf(table.fromWire(row)));
      yield { candidates: candidates.sort((one, other) => one.id - other.id), upTo: some.at(-1) ?? cursor };
    }
  };

const byFilter = async (org: number, selection: Exclude<Selection, { ids: number[] }>): Promise<Source> => {
  const { filter, lastScanId, openScan } = selection;
  const where = attributesOf(filter);
  const isOfGroup = (groupKey: string): boolean => {
    const group = findings.groupOf({ group: groupKey });
    return isOf(filter, group) && (group.scanId ?? 0) <= lastScanId;
  };
  const openIds = new IdRanges(openScan?.ranges ?? []);
  const isThere = ({ id, group }: Candidate): boolean =>
    openScan === undefined || findings.groupOf({ group }).scanId !== openScan.scanId || openIds.has(id);
  const blocks = findings.blocks(await findings.directory(org), (group) =>
    isOfGroup(findings.groupKeyOf(group)),
  );
  return async function* (lane, cursor) {
    for (const block of blocks) {
      const toId = firstIdOf(block + 1) - 1;
      if (laneOf(block) !== lane || toId <= cursor) continue;
      const fromId = Math.max(firstIdOf(block), cursor + 1);
      const rows = await findings.members(org, block, { fromId, toId, where, project: attributes });
      const candidates = rows.map(candidateOf);
      yield {
        candidates: candidates.filter((each) => isOfGroup(each.group) && isThere(each)),
        upTo: toId,
      };
    }
  };
};

const candidateOf = (row: {
  id: number;
  emailId: number;
  breachId: number;
  firstDetectedAt: string;
  group: string;
  acknowledgment?: { at: string };
}): Candidate => ({
  id: row.id,
  emailId: row.emailId,
  breachId: row.breachId,
  firstDetectedAt: row.firstDetectedAt,
  group: row.group,
  acknowledgedAt: row.acknowledgment?.at,
});
