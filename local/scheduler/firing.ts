/** When schedules fire. */
import { nextOccurrence, ownTime, type Schedule } from "./schedule.ts";

export type Firing = {
  /** Sets the timer of a schedule's next occurrence, once firing has begun. */
  arm(schedule: Schedule): void;
  disarm(schedule: Schedule): void;
  begin(schedules: Iterable<Schedule>): void;
  end(schedules: Iterable<Schedule>): void;
};

/** Faster than this a schedule only burns the machine's few cores; occurrences in between are left out. */
const shortestIntervalMilliseconds = 250;

/** Firings of one schedule that may be under way; occurrences beyond that are left out. */
const maximumRunning = 4;

/** setTimeout takes no more; a longer wait takes several steps. */
const longestTimerMilliseconds = 2 ** 31 - 1;

export const openFiring = (options: {
  speed: number;
  reach: (schedule: Schedule, occurrence: number) => Promise<void>;
  onFired: (schedule: Schedule) => void;
}): Firing => {
  const { speed, reach, onFired } = options;
  let isFiring = false;

  const arm = (schedule: Schedule): void => {
    clearTimeout(schedule.timer);
    if (!isFiring) return;
    const occurrence = nextOccurrence(schedule);
    wait(schedule, occurrence, dueAt(schedule, occurrence));
  };

  /** When an occurrence fires, at a random point of the schedule's flexible time window. */
  const dueAt = ({ definition, modifiedAt, firedAt }: Schedule, occurrence: number): number => {
    const windowMinutes = definition.FlexibleTimeWindow.MaximumWindowInMinutes ?? 0;
    const time = occurrence + Math.random() * windowMinutes * 60_000;
    return Math.max(modifiedAt + (time - modifiedAt) / speed, firedAt + shortestIntervalMilliseconds);
  };

  const wait = (schedule: Schedule, occurrence: number, until: number): void => {
    const restMilliseconds = until - Date.now();
    schedule.timer =
      restMilliseconds > longestTimerMilliseconds
        ? setTimeout(() => wait(schedule, occurrence, until), longestTimerMilliseconds)
        : setTimeout(() => fire(schedule, occurrence), Math.max(0, restMilliseconds));
  };

  const fire = (schedule: Schedule, occurrence: number): void => {
    const now = Date.now();
    schedule.firedAt = now;
    schedule.handledUntil = Math.max(occurrence, ownTime(schedule, now, speed));
    if (schedule.running < maximumRunning) {
      schedule.running += 1;
      void reach(schedule, occurrence).finally(() => {
        schedule.running -= 1;
      });
    }
    onFired(schedule);
    arm(schedule);
  };

  return {
    arm,
    disarm: ({ timer }) => clearTimeout(timer),
    begin: (schedules) => {
      isFiring = true;
      for (const schedule of schedules) arm(schedule);
    },
    end: (schedules) => {
      isFiring = false;
      for (const { timer } of schedules) clearTimeout(timer);
    },
  };
};
