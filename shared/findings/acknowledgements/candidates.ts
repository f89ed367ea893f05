import * as table from "../../aws/table/table.ts";
import { blockOf, firstIdOf } from "../../lists/blocks.ts";
import { findings, isOf } from "../record.ts";
import type { AcknowledgementRow } from "./record.ts";
import { attributesOf, type Selection } from "./selection.ts";

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

/** Candidates, ascending by id; no others have ids up to `upTo`. */
export type Window = { candidates: Candidate[]; upTo: number };

/** Reads the next candidates behind a cursor; undefined when there are no more. */
export type Reader = (cursor: number) => Promise<Window | undefined>;

/** Ids that are read in one request. */
const idsPerRead = 100;

const attributes = ["id", "emailId", "breachId", "firstDetectedAt", "group", "acknowledgment.at"];

/** Where a request gets its findings from. Reads the directory once. */
export const readerOf = async (org: number, { selection, slot }: AcknowledgementRow): Promise<Reader> => {
  if (selection === undefined) throw new Error("A request that is in progress has no selection");
  // What somebody has acknowledged after the request stays as it is.
  const isEarlier = ({ acknowledgedAt = "" }: Candidate): boolean => acknowledgedAt <= slot.createdAt;
  const read = "ids" in selection ? byIds(org, selection.ids) : await byFilter(org, selection);
  return async (cursor) => {
    const window = await read(cursor);
    return window && { ...window, candidates: window.candidates.filter(isEarlier) };
  };
};

const byIds =
  (org: number, ids: readonly number[]): Reader =>
  async (cursor) => {
    const some = ids.filter((id) => id > cursor).slice(0, idsPerRead);
    const upTo = some.at(-1);
    if (upTo === undefined) return undefined;
    const rows = await table.getManyWire(
      some.map((id) => findings.key(org, id)),
      { project: attributes },
    );
    const candidates = rows.map((row) => candidateOf(table.fromWire(row)));
    return { candidates: candidates.sort((one, other) => one.id - other.id), upTo };
  };

const byFilter = async (org: number, selection: Exclude<Selection, { ids: number[] }>): Promise<Reader> => {
  const { filter, lastScanId, openScan } = selection;
  const where = attributesOf(filter);
  const fullBlocks = new Set(openScan?.fullBlocks);
  const openIds = new Set(openScan?.ids);
  const isMeant = ({ id, group: groupKey }: Candidate): boolean => {
    const group = findings.groupOf({ group: groupKey });
    if (!isOf(filter, group) || (group.scanId ?? 0) > lastScanId) return false;
    return group.scanId !== openScan?.scanId || fullBlocks.has(blockOf(id)) || openIds.has(id);
  };
  const blocks = findings.blocks(
    await findings.directory(org),
    (group) => isOf(filter, group) && (group.scanId ?? 0) <= lastScanId,
  );
  return async (cursor) => {
    const block = blocks.find((each) => firstIdOf(each + 1) - 1 > cursor);
    if (block === undefined) return undefined;
    const upTo = firstIdOf(block + 1) - 1;
    const fromId = Math.max(firstIdOf(block), cursor + 1);
    const rows = await findings.members(org, block, { fromId, toId: upTo, where, project: attributes });
    return { candidates: rows.map(candidateOf).filter(isMeant), upTo };
  };
};

const candidateOf = (
  row: Omit<Candidate, "acknowledgedAt"> & { acknowledgment?: { at: string } },
): Candidate => ({
  id: row.id,
  emailId: row.emailId,
  breachId: row.breachId,
  firstDetectedAt: row.firstDetectedAt,
  group: row.group,
  acknowledgedAt: row.acknowledgment?.at,
});
