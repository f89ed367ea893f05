/** Who has a breach in hand, and what people say of it. Both stay when nobody is in the breach any more. */
import * as activity from "../access/activity/activity.ts";
import type { Actor } from "../access/activity/actor.ts";
import { labelsOf, membersById, membership, shownActor } from "../access/members/membership.ts";
import { absent, asRead } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import { withOptimisticRetry } from "../aws/table/optimistic-retry.ts";
import * as table from "../aws/table/table.ts";
import { Refusal } from "../contract/errors.ts";
import * as breachDetails from "../hibp/breach-details.ts";
import * as breachDates from "./breach-dates.ts";
import type { Assignee, Comment, Triage } from "./breach-schema.ts";

export type CommentRow = { breachId: number; number: number; createdAt: string; text: string; author: Actor };

/** What clients see of a breach's row. `labels`: of members by id. A removed user has none, and is no assignee. */
export const triageOf = (
  { assignee, comments = 0 }: breachDates.BreachRow,
  labels: ReadonlyMap<number, string>,
): Triage => ({ assignee: assigneeOf(assignee, labels), comments });

const assigneeOf = (id: number | undefined, labels: ReadonlyMap<number, string>): Assignee | null => {
  const label = id === undefined ? undefined : labels.get(id);
  return id === undefined || label === undefined ? null : { id, label };
};

/** The labels for `triageOf`. */
export const labelsFor = async (
  org: number,
  rows: Iterable<breachDates.BreachRow>,
): Promise<ReadonlyMap<number, string>> => {
  const assignees = [...rows].flatMap(({ assignee }) => assignee ?? []);
  return labelsOf(await membersById(org, assignees));
};

export const get = async (org: number, breachId: number): Promise<Triage> => {
  const row = await breachDates.getRow(org, breachId);
  return triageOf(row, await labelsFor(org, [row]));
};

/** Of several breaches, eventually consistent. */
export const getMany = async (org: number, breachIds: readonly number[]): Promise<Map<number, Triage>> => {
  const rows = await breachDates.rowsOf(org, breachIds, { consistent: false });
  const labels = await labelsFor(org, rows.values());
  return new Map([...rows].map(([id, row]) => [id, triageOf(row, labels)]));
};

/** Refuses `breachNotFound`. */
const titleOf = async (breachId: number): Promise<string> => {
  const breach = (await breachDetails.details([breachId])).get(breachId);
  if (breach === undefined) throw new Refusal("breachNotFound", { error: "There is no breach with this id" });
  return breach.title;
};

type Assignment = {
  /** Null: nobody. */
  userId: number | null;
  /** Whom the caller saw there. Undefined: whoever it is. */
  replaces?: number | null | undefined;
};

/**
 * Puts a breach into a member's hands. To assign it to its assignee succeeds and is not logged. A user who is removed
 * meanwhile stays in the row, and is not shown. Refuses `breachNotFound`, `memberNotFound` and `assigneeChanged`.
 */
export const assign = (
  org: number,
  breachId: number,
  { userId, replaces }: Assignment,
  actor: Actor,
): Promise<Assignee | null> =>
  withOptimisticRetry(async () => {
    const [row, title] = await Promise.all([breachDates.getRow(org, breachId), titleOf(breachId)]);
    const wanted = userId ?? undefined;
    const members = await membersById(
      org,
      [row.assignee, wanted].filter((id) => id !== undefined),
    );
    const labels = labelsOf(members);
    const assignee = assigneeOf(wanted, labels);
    if (userId !== null && assignee === null) throw new Refusal("memberNotFound");
    const before = assigneeOf(row.assignee, labels);
    if (before?.id === assignee?.id) return assignee;
    if (replaces !== undefined && replaces !== (before?.id ?? null))
      throw new Refusal("assigneeChanged", {
        error:
          before === null
            ? "The assignee has given this breach back"
            : `${before.label} has taken this breach`,
      });
    const slot = await activity.slot(org);
    await table.transact([
      {
        update: keys.breachDates(org, breachId),
        ...(wanted === undefined ? { remove: ["assignee"] } : { set: { assignee: wanted } }),
        if: asRead({ assignee: row.assignee }),
      },
      ...activity.writes(org, slot, {
        action: "breach.assigned",
        summary:
          assignee === null
            ? `Took the breach ${title} from ${members.get(before?.id ?? 0)?.email}`
            : `Assigned the breach ${title} to ${members.get(assignee.id)?.email}`,
        actor,
      }),
    ]);
    return assignee;
  });

/** Refuses `breachNotFound`. */
export const comment = (org: number, breachId: number, text: string, actor: Actor): Promise<Comment> =>
  withOptimisticRetry(async () => {
    const [{ comments }, title, slot] = await Promise.all([
      breachDates.getRow(org, breachId),
      titleOf(breachId),
      activity.slot(org),
    ]);
    const number = (comments ?? 0) + 1;
    const { createdAt } = slot;
    const row: CommentRow = { breachId, number, createdAt, text, author: actor };
    await table.transact([
      { update: keys.breachDates(org, breachId), set: { comments: number }, if: asRead({ comments }) },
      { put: { ...keys.comment(org, breachId, number), ...row }, if: absent },
      ...activity.writes(org, slot, {
        action: "breach.commented",
        summary: `Commented on the breach ${title}`,
        actor,
      }),
    ]);
    return { id: number, createdAt, text, author: { type: actor.type, label: actor.label } };
  });

/** A page of comments, newest first. It reads no others, because their numbers have no gaps. */
export const comments = async (
  org: number,
  breachId: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ comments: Comment[]; total: number }> => {
  const { comments: total = 0 } = await breachDates.getRow(org, breachId);
  const newest = total - offset;
  if (newest < 1) return { comments: [], total };
  const { pk, sk: to } = keys.comment(org, breachId, newest);
  const { sk: from } = keys.comment(org, breachId, Math.max(1, newest - limit + 1));
  const [rows, users] = await Promise.all([
    table.query<CommentRow>({ pk, from, to, descending: true }),
    membership(org),
  ]);
  return {
    comments: rows.map(({ number, createdAt, text, author }) => ({
      id: number,
      createdAt,
      text,
      author: shownActor(author, users),
    })),
    total,
  };
};
