import type { Recurrence } from "./schedule-expression.ts";

export type Target = {
  Arn: string;
  RoleArn: string;
  Input?: string;
  RetryPolicy?: { MaximumRetryAttempts?: number };
  DeadLetterConfig?: { Arn?: string };
};

/** What a client gives to CreateSchedule and UpdateSchedule. Dates are seconds since 1970, as in the API. */
export type Definition = {
  GroupName?: string;
  ScheduleExpression: string;
  ScheduleExpressionTimezone?: string;
  StartDate?: number;
  EndDate?: number;
  Description?: string;
  State?: "ENABLED" | "DISABLED";
  KmsKeyArn?: string;
  Target: Target;
  FlexibleTimeWindow: { Mode: "OFF" | "FLEXIBLE"; MaximumWindowInMinutes?: number };
  ActionAfterCompletion?: "NONE" | "DELETE";
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
  recurrence: Recurrence;
  /** False for the template's schedules, which begin anew with every run. */
  isKept: boolean;
  timer: NodeJS.Timeout | undefined;
  firedAt: number;
  /** How many of its firings have not reached their target yet. */
  running: number;
};

export const defaultGroup = "default";

export const keyOf = (group: string, name: string): string => `${group}/${name}`;

/** A time on the schedule's own clock, which starts with its latest change and runs `speed` times faster. */
export const ownTime = ({ modifiedAt }: StoredSchedule, time: number, speed: number): number =>
  modifiedAt + (time - modifiedAt) * speed;

/** The next occurrence on the schedule's own clock, or undefined if there is none before its end. */
export const nextOccurrence = ({ recurrence, definition, handledUntil }: Schedule): number | undefined => {
  const start = (definition.StartDate ?? Number.NEGATIVE_INFINITY) * 1000;
  const occurrence = recurrence(Math.max(handledUntil, start - 1));
  const end = (definition.EndDate ?? Number.POSITIVE_INFINITY) * 1000;
  return occurrence <= end ? occurrence : undefined;
};
