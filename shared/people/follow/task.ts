/**
 * What is still to follow from changes in directories: rows that the change's own transaction writes, and that a
 * worker removes with what it has done. A message wakes the worker, and the sweep does so where it was lost.
 */
import type { Job } from "../../aws/queue/job.ts";
import * as queue from "../../aws/queue/queue.ts";
import { asRead, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { directoryTask } from "../../monitoring/domains/directory-task.ts";

/** `mark` differs whenever something new has to follow: who has done the work removes the row as it was read. */
export type Task = Key & Job & { mark: string };

/** Large requests to change the members of a group, which are done in steps. */
export type MembersTask = Task & { add?: Set<number>; remove?: Set<number> };

/** The kinds of tasks by the beginning of their names. Those of an organization are done in this order. */
export const kinds = ["ADDRESS", "DOMAIN", "FORGET", "GROUP", "LEAVER", "MEMBERS", "SEATS", "USERS"] as const;
type Kind = (typeof kinds)[number];

/** A task about one thing, such as an address or the id of a group. */
export const task = (
  org: number,
  kind: Kind,
  about: string | number,
  also?: Record<string, unknown>,
): Extract<Write, { put: Key }> => directoryTask(org, `${kind}#${about}`, also);

export const keyOf = (org: number, kind: Kind, about: string | number): Key =>
  keys.directoryTask(org, `${kind}#${about}`);

/** That an address may have to be watched, disabled, enabled or renamed. */
export const addressTask = (org: number, email: string): Write => task(org, "ADDRESS", email);

/** What a task is about. */
export const subjectOf = ({ sk }: Key): { kind: Kind; about: string } => {
  const at = sk.indexOf("#");
  return { kind: sk.slice(0, at) as Kind, about: sk.slice(at + 1) };
};

/** The write that ends a task. It fails if something new has to follow since it was read. */
export const done = ({ pk, sk, mark }: Pick<Task, "pk" | "sk" | "mark">): Write => ({
  delete: { pk, sk },
  if: asRead({ mark }),
});

export const list = (org: number, limit: number): Promise<Task[]> =>
  table.query<Task>({ pk: keys.directoryTask(org, "").pk, limit });

/** One message wakes for all changes of a second, since it becomes visible after them. */
const delaySeconds = 1;
const marginMilliseconds = 300;
/** By organization, when this instance sent the last message. */
const wokenAt = new Map<number, number>();

/** Wakes the worker. A message that is lost is made good by the sweep, so that the request succeeds all the same. */
export const wake = async (org: number): Promise<void> => {
  const now = Date.now();
  if (now < (wokenAt.get(org) ?? 0) + 1_000 * delaySeconds - marginMilliseconds) return;
  wokenAt.set(org, now);
  await queue
    .send("directory-changes", { organizationId: org }, { delaySeconds, group: String(org) })
    .catch(() => wokenAt.delete(org));
};
