/** Pages of findings, newest first, by every filter. */
import { breachIndex, breachPartition } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import * as counts from "../counts/counts.ts";
import { levelOf } from "../hibp/severity.ts";
import { emails } from "../monitoring/emails/record.ts";
import type { FindingOrder } from "./finding-schema.ts";
import { type FindingGroup, type FindingRecord, findings, type GroupFilter, isOf } from "./record.ts";

export type FindingQuery = GroupFilter & {
  limit: number;
  offset: number;
  breachId?: number | undefined;
  emailId?: number | undefined;
  /** Default: newest first. */
  order?: FindingOrder | undefined;
};

export const shownAttributes = [
  "emailId",
  "email",
  "breachId",
  "firstDetectedAt",
  "lastSeenAt",
  "acknowledgment",
  "stealerLogDomains",
  "ownerToldAt",
] as const;
export type Shown = Pick<FindingRecord, "id" | "group" | (typeof shownAttributes)[number]>;

/**
 * `total` counts those that match the filters, `unacknowledged` all. `acknowledged`: those of the breach, where
 * its counts were read for the total.
 */
type Page = { rows: Shown[]; total: number; unacknowledged: number; acknowledged?: number };

const isOpen = ({ acknowledged }: FindingGroup): boolean => !acknowledged;

export const page = async (org: number, query: FindingQuery): Promise<Page> => {
  const { limit, offset, acknowledged, breachId, domainId, emailId, scanId, severity, told, endedBy, order } =
    query;
  const isFiltered = [acknowledged, domainId, scanId, severity, told, endedBy].some(
    (value) => value !== undefined,
  );
  const matches = (group: FindingGroup): boolean => isOf(query, group);
  if (emailId === undefined && breachId === undefined) {
    const { items, total, tally } = await findings.page(org, {
      limit,
      offset,
      attributes: shownAttributes,
      ...(isFiltered && { matches }),
      ...(order === "severity" && { rank: ({ severity }) => severity }),
    });
    return { rows: items, total, unacknowledged: findings.sum(tally, isOpen) };
  }
  const [{ rows, ...counted }, tally] = await Promise.all([
    emailId === undefined
      ? ofBreach(org, breachId as number, query, matches)
      : ofEmail(org, emailId, query, isFiltered ? matches : undefined),
    findings.tally(org),
  ]);
  return {
    // What was deleted or acknowledged since its id was read does not belong on the page any more.
    rows: rows.filter((row) => row !== undefined).filter((row) => matches(findings.groupOf(row))),
    ...counted,
    unacknowledged: findings.sum(tally, isOpen),
  };
};

/** The findings of a page, newest first, undefined where one is gone, and how many there are in all. */
type Found = { rows: (FindingRecord | undefined)[]; total: number; acknowledged?: number };

/**
 * Newest first in either order, since all findings of a breach have its severity. Reads the index by breach,
 * which is eventually consistent: a finding that was detected or acknowledged a moment ago can be missing.
 * Where the counts tell the total, it is exact and the index is read only up to the page. Takes 14 read units
 * for a thousand findings.
 */
const ofBreach = async (
  org: number,
  breachId: number,
  query: FindingQuery,
  matches: (group: FindingGroup) => boolean,
): Promise<Found> => {
  const isCounted = [query.domainId, query.scanId, query.told, query.endedBy].every(
    (value) => value === undefined,
  );
  const counting = isCounted ? countOf(org, breachId, query) : undefined;
  const [{ ids, matchCount }, counted] = await Promise.all([
    readIndex(org, breachId, query, matches, counting),
    counting,
  ]);
  return { rows: await findings.getMany(org, ids), ...(counted ?? { total: matchCount }) };
};

type Counted = { total: number; acknowledged: number };

const countOf = async (
  org: number,
  breachId: number,
  { acknowledged, severity }: GroupFilter,
): Promise<Counted> => {
  const wanted = severity?.map(levelOf);
  const counted: Counted = { total: 0, acknowledged: 0 };
  for (const [level, some] of (await counts.read(org)).byLevel.get(breachId) ?? []) {
    counted.acknowledged += some.acknowledged;
    if (wanted !== undefined && !wanted.includes(level)) continue;
    if (acknowledged !== true) counted.total += some.open;
    if (acknowledged !== false) counted.total += some.acknowledged;
  }
  return counted;
};

/**
 * `matchCount`: how many matching findings were read. With `counting`, how many there are, no more are read than
 * the page needs.
 */
const readIndex = async (
  org: number,
  breachId: number,
  { limit, offset, acknowledged, severity }: FindingQuery,
  matches: (group: FindingGroup) => boolean,
  counting: Promise<Counted> | undefined,
): Promise<{ ids: number[]; matchCount: number }> => {
  const pages = table.queryPages<{ id: number; group: string }>({
    index: breachIndex,
    pk: breachPartition(org, breachId),
    descending: true,
    limit:
      counting !== undefined && acknowledged === undefined && severity === undefined
        ? offset + limit
        : undefined,
  });
  const ids: number[] = [];
  let matchCount = 0;
  for await (const entries of pages) {
    const matching = entries.filter((entry) => matches(findings.groupOf(entry)));
    ids.push(
      ...matching.slice(Math.max(0, offset - matchCount), offset + limit - matchCount).map(({ id }) => id),
    );
    matchCount += matching.length;
    if (counting !== undefined && matchCount >= Math.min(offset + limit, (await counting).total)) break;
  }
  return { ids, matchCount };
};

/** The e-mail's row names its findings; with `matches` or in the order of severity all of them are read. */
const ofEmail = async (
  org: number,
  emailId: number,
  { limit, offset, breachId, order }: FindingQuery,
  matches: ((group: FindingGroup) => boolean) | undefined,
): Promise<Found> => {
  const email = await emails.get(org, emailId);
  const ids = Object.entries(email?.findings ?? {})
    .filter(([breach]) => breachId === undefined || Number(breach) === breachId)
    .map(([, id]) => id)
    .sort((one, other) => other - one);
  const onPage = <T>(all: readonly T[]): T[] => all.slice(offset, offset + limit);
  if (matches === undefined && order !== "severity")
    return { rows: await findings.getMany(org, onPage(ids)), total: ids.length };
  const all = await findings.getMany(org, ids);
  const matching = all
    .filter((row) => row !== undefined)
    .filter((row) => matches?.(findings.groupOf(row)) ?? true);
  const levelIn = (row: FindingRecord): number => findings.groupOf(row).severity ?? 0;
  if (order === "severity") matching.sort((one, other) => levelIn(other) - levelIn(one));
  return { rows: onPage(matching), total: matching.length };
};
