/**
 * What a request to acknowledge many findings is about: the findings that match at its time, and none
 * that are detected later.
 *
 * A scan that has ended writes nothing more, so its id is enough to select its findings. A scan in progress
 * still writes findings, some with lower ids than existing ones. So the ids of its findings are stored one by
 * one.
 */

import { chunk } from "../../aws/table/chunk.ts";
import { allOf, type Condition, condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { blockSize } from "../../lists/blocks.ts";
import type { Block, Tally } from "../../lists/tally.ts";
import { emails } from "../../monitoring/emails/record.ts";
import { type FindingRecord, findings, isOf } from "../record.ts";
import type { FindingFilter } from "./acknowledgement-schema.ts";

/** As it is stored. */
export type Selection =
  | { ids: number[] }
  | {
      filter: FindingFilter;
      /** The latest scan that had found something. */
      lastScanId: number;
      /**
       * The scan that was in progress, the blocks that its findings had filled, and matching ids outside of
       * them.
       */
      openScan?: { scanId: number; fullBlocks: number[]; ids: number[] } | undefined;
    };

export type Selected = { selection: Selection; matching: number };

/** Blocks that are read or counted at the same time. */
const concurrency = 32;

/** A tally that was read while a scan started or ended is read again. */
const maximumReadings = 5;

/**
 * Those of the findings with these ids that match a filter. Refuses `findingNotFound` if one of them is
 * not there.
 */
export const selectIds = async (
  org: number,
  given: readonly number[],
  filter: FindingFilter,
): Promise<Selected> => {
  const ids = [...new Set(given)];
  const rows = await findings.getMany(org, ids);
  const missing = ids.find((_, index) => rows[index] === undefined);
  if (missing !== undefined) {
    throw new Refusal("findingNotFound", {
      error: `No breach finding of the organization has the id ${missing}: nothing was changed`,
    });
  }
  return selectAmong(rows, filter);
};

/**
 * Findings that match a filter. Without fields that only findings' rows hold, the tally is enough to
 * count them.
 */
export const selectMatching = async (org: number, filter: FindingFilter): Promise<Selected> => {
  const { ids, emailId } = filter;
  if (ids !== undefined) return selectAmong(await findings.getMany(org, [...new Set(ids)]), filter);
  // The findings of one e-mail are few, and its row names them.
  if (emailId !== undefined) {
    const email = await emails.get(org, emailId);
    return selectAmong(await findings.getMany(org, Object.values(email?.findings ?? {})), filter);
  }
  const { tally, openScanId } = await readTally(org);
  let lastScanId = 0;
  for (const { counts } of tally) {
    for (const groupKey of counts.keys()) lastScanId = Math.max(lastScanId, scanIdIn(groupKey));
  }
  const open = await readOpenScan(org, filter, tally, openScanId);
  const where = attributesOf(filter);
  let matching = open.selected?.ids.length ?? 0;
  const toCount: { block: number; groupKeys: string[] | undefined }[] = [];
  for (const { block, counts } of tally) {
    const matchingKeys = [...counts]
      .filter(([, count]) => count > 0)
      .map(([groupKey]) => groupKey)
      .filter((groupKey) => isOf(filter, findings.groupOf({ group: groupKey })))
      .filter((groupKey) => !(open.read.has(block) && scanIdIn(groupKey) === openScanId));
    if (matchingKeys.length === 0) continue;
    if (where === undefined) {
      for (const groupKey of matchingKeys) matching += counts.get(groupKey) ?? 0;
    } else {
      toCount.push({ block, groupKeys: matchingKeys.length === counts.size ? undefined : matchingKeys });
    }
  }
  for (const some of chunk(toCount, concurrency)) {
    const counted = await Promise.all(
      some.map(({ block, groupKeys }) => findings.countMembers(org, block, groupKeys, where as Condition)),
    );
    for (const count of counted) matching += count;
  }
  return { selection: { filter, lastScanId, openScan: open.selected }, matching };
};

const selectAmong = (rows: readonly (FindingRecord | undefined)[], filter: FindingFilter): Selected => {
  const ids = rows
    .filter((row) => row !== undefined)
    .filter((row) => isOf(filter, findings.groupOf(row)) && hasAttributes(filter, row))
    .map(({ id }) => id)
    .sort((one, other) => one - other);
  return { selection: { ids }, matching: ids.length };
};

/** The tally, and the scan that was in progress all the while it was read; 0 when there was none. */
const readTally = async (org: number): Promise<{ tally: Tally; openScanId: number }> => {
  let openScanId = await scanInProgress(org);
  for (let readings = 1; ; readings++) {
    const tally = await findings.tally(org);
    const after = await scanInProgress(org);
    if (after === openScanId || readings >= maximumReadings) return { tally, openScanId };
    openScanId = after;
  }
};

const scanInProgress = async (org: number): Promise<number> =>
  (await table.get<{ scanId: number }>(keys.scanLock(org)))?.scanId ?? 0;

/**
 * The matching findings of the scan in progress. Only blocks that are not full are read (`read`):
 * nothing can be added to the others.
 */
const readOpenScan = async (
  org: number,
  filter: FindingFilter,
  blocks: Tally,
  scanId: number,
): Promise<{
  selected: { scanId: number; fullBlocks: number[]; ids: number[] } | undefined;
  read: Set<number>;
}> => {
  const isWanted = filter.scanId === undefined || filter.scanId === scanId;
  const held = blocks.filter(({ counts }) =>
    [...counts].some(([groupKey, count]) => count > 0 && scanIdIn(groupKey) === scanId),
  );
  if (scanId === 0 || !isWanted || held.length === 0) {
    return { selected: undefined, read: new Set() };
  }
  const isFull = ({ counts }: Block): boolean =>
    [...counts.values()].reduce((sum, count) => sum + count, 0) === blockSize;
  const read = held.filter((block) => !isFull(block)).map(({ block }) => block);
  const ids: number[] = [];
  const options = { where: attributesOf(filter), project: ["id", "group"] };
  for await (const rows of findings.membersOf(org, read, options)) {
    const matching = rows.filter((row) => isOf({ ...filter, scanId }, findings.groupOf(row)));
    ids.push(...matching.map(({ id }) => id));
  }
  const fullBlocks = held.filter(isFull).map(({ block }) => block);
  return { selected: { scanId, fullBlocks, ids }, read: new Set(read) };
};

const scanIdIn = (groupKey: string): number => findings.groupOf({ group: groupKey }).scanId ?? 0;

/** Whether a row is as a filter asks of the rows themselves. */
const hasAttributes = (
  { breachId, emailId, detectedBefore, acknowledgedAt }: FindingFilter,
  row: Pick<FindingRecord, "breachId" | "emailId" | "firstDetectedAt" | "acknowledgment">,
): boolean =>
  (breachId === undefined || row.breachId === breachId) &&
  (emailId === undefined || row.emailId === emailId) &&
  (detectedBefore === undefined || row.firstDetectedAt < detectedBefore) &&
  (acknowledgedAt === undefined || row.acknowledgment?.at === acknowledgedAt);

/** The same as a condition; undefined when the filter asks nothing of the rows. */
export const attributesOf = ({
  breachId,
  detectedBefore,
  acknowledgedAt,
}: FindingFilter): Condition | undefined =>
  allOf(
    breachId === undefined ? undefined : condition("#breachId = :breachId", { breachId }),
    detectedBefore === undefined
      ? undefined
      : condition("#firstDetectedAt < :detectedBefore", { detectedBefore }),
    acknowledgedAt === undefined
      ? undefined
      : condition("#acknowledgment.#at = :acknowledgedAt", { acknowledgedAt }),
  );
