/** The log entry of a minute: what directories have changed in it, all in one (people.md of the activity log). */
import * as activity from "../../access/activity/activity.ts";
import { service } from "../../access/activity/actor.ts";
import { asRead, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import type { Reserved } from "../../lists/blocks.ts";

export const deeds = ["added", "enabled", "disabled", "renamed"] as const;
export type Deed = (typeof deeds)[number];

type Counts = { [D in Deed]: number };

/**
 * One row of an organization. Every transaction that follows a directory writes it under the condition that it is
 * as it was read. `outside<id>`: how many addresses of other domains a directory names.
 */
export type DirectoryLog = { entry?: Reserved; counts?: Counts; mark?: string } & Record<
  `outside${number}`,
  number
>;

const none: Counts = { added: 0, enabled: 0, disabled: 0, renamed: 0 };

const minuteOf = (time: string): string => time.slice(0, "2026-11-03T08:15".length);

const summaryOf = (counts: Counts): string =>
  `Followed the directory: ${deeds
    .filter((deed) => counts[deed] > 0)
    .map((deed) => `${counts[deed]} ${deed}`)
    .join(", ")}`;

/**
 * The writes that count what a transaction does. `outside`: by how much the addresses of other domains change, by
 * directory. `mark`: a new one.
 */
export const logWrites = async (
  org: number,
  log: DirectoryLog | undefined,
  done: readonly Deed[],
  outside: ReadonlyMap<number, number>,
  mark: string,
): Promise<Write[]> => {
  const moved = [...outside].filter(([, by]) => by !== 0);
  if (done.length === 0 && moved.length === 0) return [];
  const isSameMinute = log?.entry && minuteOf(log.entry.createdAt) === minuteOf(new Date().toISOString());
  const counts = { ...(isSameMinute && log?.counts ? log.counts : none) };
  for (const deed of done) counts[deed]++;
  const kept = isSameMinute ? log?.entry : undefined;
  const entry = done.length === 0 ? kept : (kept ?? (await activity.slot(org)));
  return [
    {
      update: keys.directoryLog(org),
      set: { mark, ...(entry && { entry }), ...(done.length > 0 && { counts }) },
      add: Object.fromEntries(moved.map(([directory, by]) => [`outside${directory}`, by])),
      if: asRead({ mark: log?.mark }),
    },
    ...(done.length === 0 || entry === undefined
      ? []
      : activity.counting(org, entry, kept !== undefined, {
          action: "directory.synced",
          summary: summaryOf(counts),
          actor: service,
        })),
  ];
};
