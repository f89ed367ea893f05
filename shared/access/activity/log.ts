import { allOf, condition } from "../../aws/table/condition.ts";
import { retentionAt } from "../../contract/retention.ts";
import { fold } from "../../contract/search-text.ts";
import { inBrackets } from "../../contract/text.ts";
import { type Membership, membersById, membership, shownActor } from "../members/membership.ts";
import type { Category } from "./actions.ts";
import { type EntryRecord, entries } from "./activity.ts";
import type { ActivityEntry } from "./activity-schema.ts";

/** Filters that no counter knows. `to` itself is left out; `actor`: a user's id, or a type of actors. */
type Search = { [Name in "actor" | "from" | "to" | "q"]?: string | undefined };

type Filter = { category?: Category | undefined } & Search;

type Query = { limit: number; offset: number } & Filter;

type Listed = {
  activity: ActivityEntry[];
  total: number;
  retention: ReturnType<typeof retentionAt>;
  searchedSince?: string | null;
};

/** A page of the entries that are still visible, newest first; `total` counts those that match the filter. */
export const list = async (org: number, query: Query, now: Date): Promise<Listed> => {
  const { category, limit, offset, ...search } = query;
  const retention = retentionAt(now);
  if (Object.values(search).some((value) => value !== undefined))
    return { ...(await find(org, query, { since: retention.visibleSince, now })), retention };
  const [{ items, total }, users] = await Promise.all([
    entries.page(org, {
      limit,
      offset,
      since: retention.visibleSince,
      attributes: shownAttributes,
      matches: category === undefined ? undefined : (group) => group.category === category,
    }),
    membership(org),
  ]);
  return {
    activity: items.map((row) => shownEntry(row, users)),
    total,
    retention,
  };
};

/** A search reads so many blocks of 1,024 entries at most. */
const searchedBlocks = 8;

const day = 24 * 60 * 60 * 1000;

/**
 * A page of what a search finds. It reads the blocks of the time asked for, the newest first. `searchedSince`:
 * entries before this time were not looked at, because there were too many blocks; null: all were.
 */
const find = async (
  org: number,
  { limit, offset, category, from = "", to, ...search }: Query,
  { since, now }: { since: string; now: Date },
): Promise<Required<Omit<Listed, "retention">>> => {
  const [tally, users] = await Promise.all([entries.tally(org), membership(org)]);
  const first = from > since ? from : since;
  // No entry of a block is younger than the beginning of the next one.
  const inTime = tally
    .map((block, index) => ({ ...block, until: tally[index - 1]?.from ?? Number.POSITIVE_INFINITY }))
    .filter((block) => block.until >= Date.parse(first) && (to === undefined || block.from < Date.parse(to)))
    .filter(
      (block) => entries.sum([block], (group) => category === undefined || group.category === category) > 0,
    );
  const blocks = inTime.slice(0, searchedBlocks);
  const where = allOf(
    condition("#createdAt >= :since", { since: first }),
    to === undefined ? undefined : condition("#createdAt < :to", { to }),
    category === undefined ? undefined : condition("#category = :category", { category }),
  );
  const read = await Promise.all(
    blocks.map(({ block, until }) => {
      // What is a day old is the same in every copy of the table, and costs half.
      const consistent = until > now.getTime() - day;
      return entries.members(org, block, {
        descending: true,
        where,
        consistent,
        project: ["id", "group", ...shownAttributes],
      });
    }),
  );
  const isFound = matcher(search);
  const found = read.flat().filter((row) => isFound(row, shownActor(row.actor, users)));
  const oldest = blocks.at(-1);
  return {
    activity: found.slice(offset, offset + limit).map((row) => shownEntry(row, users)),
    total: found.length,
    searchedSince:
      inTime.length > blocks.length && oldest !== undefined ? new Date(oldest.from).toISOString() : null,
  };
};

/** Looks at actors as they are shown: the names of removed users are found by nobody. */
const matcher = ({ actor, q }: Search) => {
  const text = q === undefined ? "" : fold(q);
  return (row: Pick<EntryRecord, "summary" | "actor">, shown: ActivityEntry["actor"]): boolean => {
    const isBy =
      actor === undefined ||
      actor === shown.type ||
      (shown.type === "user" && actor === String(row.actor.id));
    return isBy && (fold(row.summary).includes(text) || fold(shown.label).includes(text));
  };
};

/** A filter as the entry of an export names it, such as `(category teams, since 2026-11-01T00:00:00.000Z) `. */
export const filterInWords = async (
  org: number,
  { category, actor, from, to, q }: Filter,
): Promise<string> => {
  const userId = Number(actor);
  const members = userId > 0 ? await membersById(org, [userId]) : undefined;
  return inBrackets([
    category !== undefined && `category ${category}`,
    actor !== undefined &&
      `by ${members === undefined ? actor : (members.get(userId)?.email ?? `user ${userId}`)}`,
    from !== undefined && `since ${from}`,
    to !== undefined && `before ${to}`,
    q !== undefined && `with the text "${q}"`,
  ]);
};

export const shownAttributes = ["createdAt", "category", "action", "summary", "actor"] as const;

/** An entry as clients see it. */
export const shownEntry = (
  {
    id,
    createdAt,
    category,
    action,
    summary,
    actor,
  }: Pick<EntryRecord, "id" | (typeof shownAttributes)[number]>,
  users: Membership,
): ActivityEntry => ({ id, createdAt, category, action, summary, actor: shownActor(actor, users) });
