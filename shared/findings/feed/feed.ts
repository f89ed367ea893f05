/**
 * Everything that was recorded, once, in an order that grows at its end only: findings of scans that have
 * ended, and entries of the activity log. Nothing is written for it: both lists hand out ascending ids, so
 * that two ids say how far a client has read.
 */
import { entries, settledMilliseconds } from "../../access/activity/activity.ts";
import * as log from "../../access/activity/log.ts";
import { membership } from "../../access/members/membership.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { unknownDate } from "../../contract/unknown-date.ts";
import { firstIdOf } from "../../lists/blocks.ts";
import { inFull } from "../detailed.ts";
import type { DetailedFinding, ExportedFinding } from "../finding-schema.ts";
import { shownAttributes } from "../page.ts";
import { findings } from "../record.ts";
import { cursorOf, type Place, placeOf } from "./cursor.ts";
import type { FeedFormat, FeedItem, NativeItem } from "./feed-schema.ts";
import { eventOf } from "./ocsf.ts";

/** Lambda replies with at most 6 MB, in which the body is a JSON string. */
const maximumBytes = 5_500_000;

type Page = { items: FeedItem[]; cursor: string; hasMore: boolean };

/** Without the date that stands for a breach whose date is not known. */
const exported = (finding: DetailedFinding): ExportedFinding => {
  const { breachDate, ...breach } = finding.breach;
  return breachDate === unknownDate ? { ...finding, breach } : finding;
};

/**
 * The items after a cursor. Four trips, whatever was recorded since; more behind a stretch of removed
 * findings. Refuses `invalidInput` for a cursor that is damaged or of another organization.
 */
export const read = async (
  org: number,
  { after, limit, format }: { after?: string | undefined; limit: number; format: FeedFormat },
  now: Date,
): Promise<Page> => {
  const place = after === undefined ? { finding: 0, entry: 0 } : placeOf(org, after);
  const recorded = following(org, place, limit + 1, now);
  const [details, users, { logged, passed, isCut }] = await Promise.all([
    inFull(org, recorded),
    membership(org),
    recorded,
  ]);
  place.finding = passed ?? place.finding;
  const all: NativeItem[] = [
    ...details.map(
      (finding): NativeItem => ({ type: "finding", at: finding.firstDetectedAt, finding: exported(finding) }),
    ),
    ...logged.map(
      (entry): NativeItem => ({ type: "activity", at: entry.createdAt, entry: log.shownEntry(entry, users) }),
    ),
  ];
  const items: FeedItem[] = [];
  let bytes = 0;
  for (const item of all) {
    const shown = format === "ocsf" ? eventOf(org, item) : item;
    bytes += Buffer.byteLength(JSON.stringify(JSON.stringify(shown)));
    if (items.length === limit || (items.length > 0 && bytes > maximumBytes)) break;
    items.push(shown);
    if (item.type === "finding") place.finding = item.finding.id;
    else place.entry = item.entry.id;
  }
  return { items, cursor: cursorOf(org, place), hasMore: isCut || items.length < all.length };
};

/**
 * The items after a place, at most `limit` of each list. `passed`: the id up to which no findings are left.
 * `isCut`: whether more than this can be read at once.
 *
 * An organization has one scan at a time. Its workers draw ids while it is in progress, and write nothing
 * after its end. So findings with ids below the head of the list are final. Only the locked scan's are not,
 * which have the highest ids. That is why the head and the lock are read together, before the list.
 */
const following = async (org: number, place: Place, limit: number, now: Date) => {
  const [head, scanLock] = await table.getTogether<{ next?: number; scanId?: number }>([
    keys.listHead(org, "FINDING"),
    keys.scanLock(org),
  ]);
  const nextId = head?.next ?? 1;
  const [newFindings, recent] = await Promise.all([
    findings.following(org, place.finding, { limit, attributes: shownAttributes }),
    entries.following(org, place.entry, { limit, attributes: log.shownAttributes }),
  ]);
  const rows = firstWhile(
    newFindings.items,
    (row) => row.id < nextId && findings.groupOf(row).scanId !== scanLock?.scanId,
  );
  const settled = new Date(now.getTime() - settledMilliseconds).toISOString();
  const logged = firstWhile(recent.items, ({ createdAt }) => createdAt <= settled);
  // Removals can empty many blocks in a row. Ids of a scan in progress may be among theirs.
  const isEmpty = newFindings.items.length === 0 && newFindings.next !== undefined && scanLock === undefined;
  const passed =
    isEmpty && firstIdOf(newFindings.next ?? 0) <= nextId ? firstIdOf(newFindings.next ?? 0) - 1 : undefined;
  const goesOn = <T>(list: { items: T[]; next?: number | undefined }, taken: T[]): boolean =>
    list.next !== undefined && taken.length > 0 && taken.length === list.items.length;
  const isCut = passed !== undefined || goesOn(newFindings, rows) || goesOn(recent, logged);
  return { rows, logged, passed, isCut };
};

const firstWhile = <T>(all: readonly T[], holds: (one: T) => boolean): T[] => {
  const end = all.findIndex((one) => !holds(one));
  return end < 0 ? [...all] : all.slice(0, end);
};
