/** What a schedule is, and when it is due. Times are milliseconds since 1970. */

/** What a client gives to CreateSchedule and UpdateSchedule. */
export type Definition = {
  GroupName?: string;
  ScheduleExpression: string;
  /** Seconds since 1970. */
  StartDate?: number;
  Target: { Arn: string; RoleArn: string; Input?: string };
};

/** Each has a clock of its own, which starts with its creation or latest update and runs `speed` times faster. */
export type Schedule = {
  name: string;
  group: string;
  definition: Definition;
  modifiedAt: number;
  /** On the schedule's own clock: occurrences up to this time are done. */
  handledUntil: number;
};

const minute = 60_000;
const unitMilliseconds: Record<string, number> = { minute, hour: 60 * minute, day: 24 * 60 * minute };

/**
 * The time between two occurrences. Throws for an expression, a time zone or a target that a local run does not know.
 */
export const intervalOf = ({
  ScheduleExpression,
  Target,
  ...more
}: Definition & { ScheduleExpressionTimezone?: string; EndDate?: number }): number => {
  const [, value, unit = ""] = /^rate\(([1-9]\d*) (minute|hour|day)s?\)$/.exec(ScheduleExpression) ?? [];
  if (value === undefined)
    throw new Error(`A local run knows no ScheduleExpression but rate(), not ${ScheduleExpression}.`);
  const unknown = ["ScheduleExpressionTimezone", "EndDate"].find((name) => name in more);
  if (unknown !== undefined) throw new Error(`A local run knows no schedules with ${unknown}.`);
  if (!Target.Arn.includes(":lambda:")) throw new Error("A local run knows no Target but a Lambda function.");
  return Number(value) * (unitMilliseconds[unit] ?? 0);
};

/** A time on the schedule's own clock. */
export const ownTime = ({ modifiedAt }: Schedule, time: number, speed: number): number =>
  modifiedAt + (time - modifiedAt) * speed;

/** The next occurrence on the schedule's own clock; the first is at its start. */
export const nextOccurrence = ({ modifiedAt, definition, handledUntil }: Schedule): number => {
  const start = definition.StartDate === undefined ? modifiedAt : definition.StartDate * 1000;
  if (handledUntil < start) return start;
  const interval = intervalOf(definition);
  return start + (Math.floor((handledUntil - start) / interval) + 1) * interval;
};
