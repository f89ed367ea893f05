import { breachIndex, breachPartition } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { blockOf, firstIdOf } from "../../lists/blocks.ts";
import { type FindingRecord, findings, isOf } from "../record.ts";
import type { Affected, Scope } from "../rules/affected.ts";
import * as affected from "../rules/affected.ts";
import { read as readSwitches, type Switches } from "../rules/switches.ts";
import { type AcknowledgementRow, purposeOf } from "./record.ts";
import { attributesOf, type Selection } from "./selection.ts";

/** A finding that a request may be about, as it was read. */
export type Candidate = Pick<
  FindingRecord,
  "id" | "emailId" | "breachId" | "firstDetectedAt" | "group" | "severitySince"
> & {
  acknowledgment?: { at: string };
  /** What rules say of it, by these facts. */
  judgement?: Pick<Affected, "person" | "verdict">;
};

/**
 * Candidates, ascending by their place; no others have places up to `upTo`. `switches`: of the rules that were
 * on then.
 */
export type Window = { candidates: Candidate[]; upTo: number; switches?: Switches };

/** Where a candidate is in its request: its id, or that of its e-mail. */
export const placeOf = ({ looks }: AcknowledgementRow, { id, emailId }: Candidate): number =>
  looks === undefined ? id : emailId;

/** Reads the next candidates behind a cursor; undefined when there are no more. */
type Reader = (cursor: number) => Promise<Window | undefined>;

/** Ids that are read at the same time. */
const idsPerRead = 100;

const attributes = [
  "id",
  "emailId",
  "breachId",
  "firstDetectedAt",
  "group",
  "acknowledgment.at",
  "severitySince",
];

/** Where a request gets its findings from. Reads the tally once. */
export const readerOf = async (org: number, row: AcknowledgementRow): Promise<Reader> => {
  const { selection, requestedAt, follows, looks } = row;
  if (follows !== undefined) return byBreach(org, follows);
  if (looks !== undefined) return byRules(org, looks);
  if (selection === undefined) throw new Error("A request that is in progress has no selection");
  const isOpenMeant = purposeOf(row) === "acknowledge";
  // Findings that changed after the request stay as they are, and open ones cannot be reopened.
  const isMeant = ({ acknowledgment, severitySince = "" }: Candidate): boolean =>
    (acknowledgment === undefined ? isOpenMeant : acknowledgment.at <= requestedAt) &&
    severitySince <= requestedAt;
  const read = "ids" in selection ? byIds(org, selection.ids) : await byFilter(org, selection);
  return async (cursor) => {
    const window = await read(cursor);
    return window && { ...window, candidates: window.candidates.filter(isMeant) };
  };
};

const byIds =
  (org: number, ids: readonly number[]): Reader =>
  async (cursor) => {
    const some = ids.filter((id) => id > cursor).slice(0, idsPerRead);
    const upTo = some.at(-1);
    if (upTo === undefined) return undefined;
    const rows = await findings.getMany(org, some);
    return { candidates: rows.filter((row) => row !== undefined), upTo };
  };

/**
 * Findings of a breach that have another severity. The index by breach is a moment behind: follow.ts
 * compares the counts again and finds what was missed.
 */
const byBreach = async (
  org: number,
  { breachId, level }: { breachId: number; level: number },
): Promise<Reader> => {
  const isOther = ({ group }: { group: string }): boolean => findings.groupOf({ group }).severity !== level;
  const ids: number[] = [];
  const pk = breachPartition(org, breachId);
  for await (const entries of table.queryPages<{ id: number; group: string }>({ index: breachIndex, pk })) {
    ids.push(...entries.filter(isOther).map(({ id }) => id));
  }
  const read = byIds(org, ids);
  return async (cursor) => {
    const switches = await readSwitches(org);
    const window = await read(cursor);
    return window && { ...window, candidates: window.candidates.filter(isOther), switches };
  };
};

const byRules = async (org: number, scope: Scope): Promise<Reader> => {
  const read = await affected.readerOf(org, scope);
  return async (cursor) => {
    const switches = await readSwitches(org);
    const window = await read(cursor, switches.on);
    if (window === undefined) return undefined;
    const all = await affected.judged(window, switches.on);
    const candidates = all.map(({ row, ...judgement }) => ({ ...row, judgement }));
    return { candidates, upTo: window.upTo, switches };
  };
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
    await findings.tally(org),
    (group) => isOf(filter, group) && (group.scanId ?? 0) <= lastScanId,
  );
  return async (cursor) => {
    const block = blocks.find((each) => firstIdOf(each + 1) - 1 > cursor);
    if (block === undefined) return undefined;
    const upTo = firstIdOf(block + 1) - 1;
    const fromId = Math.max(firstIdOf(block), cursor + 1);
    const rows = await findings.members(org, block, { fromId, toId: upTo, where, project: attributes });
    return { candidates: rows.filter(isMeant), upTo };
  };
};
