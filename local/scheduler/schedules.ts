/** All schedules by group and name. */
import { readRecurrence } from "./definition.ts";
import type { Firing } from "./firing.ts";
import { notFound } from "./refusal.ts";
import {
  type Definition,
  defaultGroup,
  keyOf,
  ownTime,
  type Schedule,
  type StoredSchedule,
} from "./schedule.ts";

export type Schedules = {
  /** By `group/name`. */
  entries(): [key: string, schedule: Schedule][];
  all(): Schedule[];
  has(group: string, name: string): boolean;
  /** Throws `Refused` if there is no such group. */
  requireGroup(group: string): void;
  /** Throws `Refused` if there is no such schedule. */
  find(group: string, name: string): Schedule;
  /**
   * Makes or replaces a schedule and arms it. `stored` is what an earlier run kept of it. Throws `Refused` if
   * the definition is not valid.
   */
  put(name: string, definition: Definition, origin: Origin): Schedule;
  remove(schedule: Schedule): void;
};

type Origin = { isKept: boolean; createdAt?: number; stored?: StoredSchedule };

export const openSchedules = (options: {
  groups: ReadonlySet<string>;
  speed: number;
  firing: Pick<Firing, "arm" | "disarm">;
}): Schedules => {
  const { groups, speed, firing } = options;
  const schedules = new Map<string, Schedule>();

  const remove = (schedule: Schedule): void => {
    firing.disarm(schedule);
    schedules.delete(keyOf(schedule.group, schedule.name));
  };

  const requireGroup = (group: string): void => {
    if (!groups.has(group)) throw notFound(`Schedule group ${group} does not exist.`);
  };

  return {
    entries: () => [...schedules.entries()],
    all: () => [...schedules.values()],
    has: (group, name) => schedules.has(keyOf(group, name)),
    requireGroup,
    find: (group, name) => {
      requireGroup(group);
      const schedule = schedules.get(keyOf(group, name));
      if (schedule === undefined) throw notFound(`Schedule ${name} does not exist.`);
      return schedule;
    },
    put: (name, definition, origin) => {
      const schedule = createSchedule(name, definition, origin, speed);
      const key = keyOf(schedule.group, name);
      const replaced = schedules.get(key);
      if (replaced !== undefined) remove(replaced);
      schedules.set(key, schedule);
      firing.arm(schedule);
      return schedule;
    },
    remove,
  };
};

const createSchedule = (
  name: string,
  definition: Definition,
  { isKept, createdAt, stored }: Origin,
  speed: number,
): Schedule => {
  const now = Date.now();
  const modifiedAt = stored?.modifiedAt ?? now;
  const group = definition.GroupName ?? defaultGroup;
  const schedule: Schedule = {
    name,
    group,
    definition,
    createdAt: stored?.createdAt ?? createdAt ?? now,
    modifiedAt,
    handledUntil: stored?.handledUntil ?? modifiedAt - 1,
    recurrence: readRecurrence(name, definition, modifiedAt),
    isKept,
    timer: undefined,
    firedAt: 0,
    running: 0,
  };
  // What a run with a higher speed has done can lie in this run's future.
  schedule.handledUntil = Math.min(schedule.handledUntil, ownTime(schedule, now, speed));
  return schedule;
};
