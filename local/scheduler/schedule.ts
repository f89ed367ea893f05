/** What a schedule is, and when it is due. */
import { Refused } from "./refusal.ts";

/** What a client gives to CreateSchedule and UpdateSchedule, as far as a local run knows it. Dates are seconds since 1970. */
export type Definition = {
  GroupName?: string;
  ScheduleExpression: string;
  StartDate?: number;
  Description?: string;
  Target: {
    Arn: string;
    RoleArn: string;
    Input?: string;
    RetryPolicy?: object;
    DeadLetterConfig?: { Arn?: string };
  };
  FlexibleTimeWindow: { Mode: "OFF" | "FLEXIBLE"; MaximumWindowInMinutes?: number };
};

/** A schedule as a file keeps it. Times are milliseconds since 1970. */
export type StoredSchedule = {
  name: string;
  group: string;
  definition: Definition;
  createdAt: number;
  /** The schedule's own, faster clock starts at this time too. */
  modifiedAt: number;
  /** On the schedule's own clock: occurrences up to this time are done. */
  handledUntil: number;
};

export type Schedule = StoredSchedule & {
  intervalMilliseconds: number;
  /** False for the template's schedules, which begin anew with every run. */
  isKept: boolean;
  timer: NodeJS.Timeout | undefined;
  firedAt: number;
  /** How many of its firings have not reached their target yet. */
  running: number;
};

export const storedOf = ({
  name,
  group,
  definition,
  createdAt,
  modifiedAt,
  handledUntil,
}: Schedule): StoredSchedule => ({ name, group, definition, createdAt, modifiedAt, handledUntil });

export const defaultGroup = "default";

export const keyOf = (group: string, name: string): string => `${group}/${name}`;

const minute = 60_000;
const unitMilliseconds: Record<string, number> = { minute, hour: 60 * minute, day: 24 * 60 * minute };
const known = [
  "GroupName",
  "ScheduleExpression",
  "StartDate",
  "Description",
  "Target",
  "FlexibleTimeWindow",
] as const satisfies (keyof Definition)[];

/** `stored` is what an earlier run kept of it. Throws `Refused` when a local run does not know such a schedule. */
export const createSchedule = (
  name: string,
  definition: Definition,
  { isKept, createdAt, stored }: { isKept: boolean; createdAt?: number; stored?: StoredSchedule },
  speed: number,
): Schedule => {
  const now = Date.now();
  const modifiedAt = stored?.modifiedAt ?? now;
  const schedule: Schedule = {
    name,
    group: definition.GroupName ?? defaultGroup,
    definition,
    createdAt: stored?.createdAt ?? createdAt ?? now,
    modifiedAt,
    handledUntil: stored?.handledUntil ?? modifiedAt - 1,
    intervalMilliseconds: readInterval(name, definition),
    isKept,
    timer: undefined,
    firedAt: 0,
    running: 0,
  };
  // What a run with a higher speed has done can lie in this run's future.
  schedule.handledUntil = Math.min(schedule.handledUntil, ownTime(schedule, now, speed));
  return schedule;
};

/** The interval of a valid definition. */
const readInterval = (name: string, definition: Definition): number => {
  const refuse = (message: string): never => {
    throw new Refused(400, "ValidationException", message);
  };
  const unknown = Object.keys(definition).find((key) => !known.includes(key as (typeof known)[number]));
  if (unknown !== undefined) refuse(`A local run knows no schedules with ${unknown}.`);
  if (!/^[0-9a-zA-Z-_.]{1,64}$/.test(name))
    refuse("Name must have 1 to 64 letters, digits, hyphens, underscores or dots.");
  const { ScheduleExpression: expression, Target: target, FlexibleTimeWindow: window } = definition;
  if (!target?.RoleArn || !/^arn:[^:]+:lambda:[^:]*:[^:]*:function:/.test(target.Arn))
    refuse("Target must have a RoleArn, and an Arn of a Lambda function: a local run knows no others.");
  if (!isJson(target.Input ?? "null")) refuse("Input must be valid JSON for a Lambda function.");
  const minutes = window?.MaximumWindowInMinutes ?? 0;
  const isWindow = window?.Mode === "FLEXIBLE" ? minutes >= 1 && minutes <= 1440 : minutes === 0;
  if (!isWindow || !["OFF", "FLEXIBLE"].includes(window?.Mode))
    refuse("FlexibleTimeWindow must have the Mode OFF, or FLEXIBLE with 1 to 1440 MaximumWindowInMinutes.");
  const [, value, unit = ""] = /^rate\(([1-9]\d*) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  if (value === undefined) refuse(`A local run knows no ScheduleExpression but rate(), not ${expression}.`);
  return Number(value) * (unitMilliseconds[unit] ?? 0);
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** A time on the schedule's own clock, which starts with its latest change and runs `speed` times faster. */
export const ownTime = ({ modifiedAt }: StoredSchedule, time: number, speed: number): number =>
  modifiedAt + (time - modifiedAt) * speed;

/** The next occurrence on the schedule's own clock; the first is at its start. */
export const nextOccurrence = (schedule: Schedule): number => {
  const { modifiedAt, definition, handledUntil, intervalMilliseconds } = schedule;
  const start = definition.StartDate === undefined ? modifiedAt : definition.StartDate * 1000;
  if (handledUntil < start) return start;
  return start + (Math.floor((handledUntil - start) / intervalMilliseconds) + 1) * intervalMilliseconds;
};
