/** What makes a schedule's definition valid, and how a template writes one. */
import { Refused } from "./refusal.ts";
import type { Definition } from "./schedule.ts";
import { parseScheduleExpression, type Recurrence } from "./schedule-expression.ts";

type Check = (definition: Definition, name: string) => string | false | undefined;

/** Each check returns a sentence about what is wrong. Later checks rely on earlier ones. */
const checks: Check[] = [
  (_, name) =>
    !/^[0-9a-zA-Z-_.]{1,64}$/.test(name) &&
    "Name must have 1 to 64 letters, digits, hyphens, underscores or dots.",
  ({ Target }) => (!Target?.Arn || !Target.RoleArn) && "Target must have an Arn and a RoleArn.",
  ({ Target }) =>
    !/^arn:[^:]+:(lambda:[^:]*:[^:]*:function|sqs:[^:]*:[^:]*):/.test(Target.Arn) &&
    "Provided Arn is not a Lambda function or an SQS queue, the targets that a local run knows.",
  ({ FlexibleTimeWindow: window }) => checkWindow(window),
  ({ ScheduleExpressionTimezone: timeZone }) =>
    !["UTC", "Etc/UTC", undefined].includes(timeZone) &&
    "A local run knows no ScheduleExpressionTimezone but UTC.",
  ({ State }) => !["ENABLED", "DISABLED", undefined].includes(State) && "State must be ENABLED or DISABLED.",
  ({ ActionAfterCompletion }) =>
    !["NONE", "DELETE", undefined].includes(ActionAfterCompletion) &&
    "ActionAfterCompletion must be NONE or DELETE.",
  ({ StartDate: start, EndDate: end }) =>
    start !== undefined && end !== undefined && end <= start && "EndDate must be after StartDate.",
  ({ Target: { Arn, Input } }) =>
    Input !== undefined &&
    Arn.split(":")[2] === "lambda" &&
    !isJson(Input) &&
    "Input must be valid JSON for a Lambda function.",
];

const checkWindow = (window: Definition["FlexibleTimeWindow"] | undefined): string | undefined => {
  const minutes = window?.MaximumWindowInMinutes;
  switch (window?.Mode) {
    case "OFF":
      return minutes === undefined
        ? undefined
        : "MaximumWindowInMinutes must not be given when the Mode is OFF.";
    case "FLEXIBLE":
      return Number.isInteger(minutes) && Number(minutes) >= 1 && Number(minutes) <= 1440
        ? undefined
        : "MaximumWindowInMinutes must be between 1 and 1440 when the Mode is FLEXIBLE.";
    default:
      return "FlexibleTimeWindow must have a Mode of OFF or FLEXIBLE.";
  }
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/**
 * When such a schedule is due. Throws `Refused` (ValidationException) with a sentence about what is wrong.
 */
export const readRecurrence = (name: string, definition: Definition, modifiedAt: number): Recurrence => {
  const refuse = (message: string): never => {
    throw new Refused(400, "ValidationException", message);
  };
  for (const check of checks) {
    const fault = check(definition, name);
    if (fault) refuse(fault);
  }
  const { ScheduleExpression: expression, StartDate: start } = definition;
  try {
    return parseScheduleExpression(expression, start === undefined ? modifiedAt : start * 1000);
  } catch (error) {
    return refuse((error as Error).message);
  }
};

/** The definition of an AWS::Scheduler::Schedule. CloudFormation writes dates as text, the API as seconds. */
export const readTemplateSchedule = (properties: Record<string, unknown>): Definition => {
  const { Name: _name, StartDate: start, EndDate: end, ...rest } = properties;
  const seconds = (date: string) => Date.parse(date) / 1000;
  return {
    ...(rest as Omit<Definition, "StartDate" | "EndDate">),
    ...(typeof start === "string" && { StartDate: seconds(start) }),
    ...(typeof end === "string" && { EndDate: seconds(end) }),
  };
};
