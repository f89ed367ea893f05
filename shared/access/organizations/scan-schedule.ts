import {
  ConflictException,
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  ResourceNotFoundException,
  SchedulerClient,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { shortTimeouts } from "../../aws/timeouts.ts";
import { withVersion } from "../../contract/version.ts";
import { type ScanFrequency, scanPeriodMilliseconds } from "./organization.ts";

/** The outputs of the stack that a schedule refers to. */
type ScheduleOutputs = {
  ScheduleGroupName?: string;
  ScheduledScanFunctionArn?: string;
  ScheduledScanRoleArn?: string;
  /** Where EventBridge Scheduler leaves an event that it could not hand over. */
  DeadLettersQueueArn?: string;
};

/** EventBridge Scheduler spreads the invocations over this window: not all organizations start at once. */
const flexibleWindowMinutes = 15;

const rateOf = { day: "rate(1 day)", week: "rate(7 days)" } as const;

const scheduleName = (org: number): string => `organization-${org}`;

let scheduler: SchedulerClient | undefined;
const client = (): SchedulerClient => {
  scheduler ??= new SchedulerClient({ maxAttempts: 3, requestHandler: shortTimeouts });
  return scheduler;
};

/**
 * Sets how often an organization is scanned automatically. The first scan is at a random time within the
 * first interval. So organizations that were created together are not scanned together. Gives this time, ISO
 * 8601; null for "never".
 */
export const schedule = async (
  org: number,
  every: ScanFrequency,
  outputs: ScheduleOutputs,
): Promise<string | null> => {
  if (every === "never") {
    await unschedule(org, outputs);
    return null;
  }
  // EventBridge Scheduler takes whole seconds.
  const startsAt = new Date(
    Math.ceil((Date.now() + Math.random() * scanPeriodMilliseconds[every]) / 1_000) * 1_000,
  );
  await set(org, outputs, {
    ScheduleExpression: rateOf[every],
    StartDate: startsAt,
    FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: flexibleWindowMinutes },
  });
  return startsAt.toISOString();
};

/** Starts a scan every minute, for a test of a deployment. */
export const scheduleEveryMinute = (org: number, outputs: ScheduleOutputs): Promise<void> =>
  set(org, outputs, { ScheduleExpression: "rate(1 minute)", FlexibleTimeWindow: { Mode: "OFF" } });

type Timing = Pick<CreateScheduleCommandInput, "ScheduleExpression" | "StartDate" | "FlexibleTimeWindow">;

const set = async (org: number, outputs: ScheduleOutputs, timing: Timing): Promise<void> => {
  const input = {
    Name: scheduleName(org),
    GroupName: outputs.ScheduleGroupName,
    ...timing,
    Target: {
      Arn: outputs.ScheduledScanFunctionArn,
      RoleArn: outputs.ScheduledScanRoleArn,
      Input: JSON.stringify(withVersion({ organizationId: org })),
      RetryPolicy: { MaximumRetryAttempts: 5, MaximumEventAgeInSeconds: 3600 },
      DeadLetterConfig: { Arn: outputs.DeadLettersQueueArn },
    },
  };
  try {
    await client().send(new CreateScheduleCommand(input));
  } catch (error) {
    if (!(error instanceof ConflictException)) throw error;
    await client().send(new UpdateScheduleCommand(input));
  }
};

/** Ends an organization's scheduled scans, if there are any. */
export const unschedule = async (org: number, outputs: ScheduleOutputs): Promise<void> => {
  try {
    await client().send(
      new DeleteScheduleCommand({ Name: scheduleName(org), GroupName: outputs.ScheduleGroupName }),
    );
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  }
};
