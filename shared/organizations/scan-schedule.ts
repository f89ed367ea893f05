import {
  ConflictException,
  CreateScheduleCommand,
  DeleteScheduleCommand,
  ResourceNotFoundException,
  SchedulerClient,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import type { ScanFrequency } from "./organization.ts";

/** The stack's outputs that name what a schedule needs. */
export type ScheduleOutputs = {
  ScheduleGroupName?: string;
  ScheduledScanFunctionArn?: string;
  ScheduledScanRoleArn?: string;
};

/** Schedules may fire this much later, so that many organizations do not start at once. */
const flexibleWindowMinutes = 15;

const millisecondsOf = { day: 86_400_000, week: 7 * 86_400_000 } as const;
const rateOf = { day: "rate(1 day)", week: "rate(7 days)" } as const;

const scheduleName = (org: number): string => `organization-${org}`;

let scheduler: SchedulerClient | undefined;
const client = (): SchedulerClient => {
  scheduler ??= new SchedulerClient({ maxAttempts: 4 });
  return scheduler;
};

/**
 * Sets how often an organization is scanned by itself; the first time is a random point of the first interval, so that
 * organizations created together do not scan together (decisions.md "Scans").
 */
export const schedule = async (
  org: number,
  every: ScanFrequency,
  outputs: ScheduleOutputs,
): Promise<void> => {
  if (every === "never") return unschedule(org, outputs);
  const input = {
    Name: scheduleName(org),
    GroupName: outputs.ScheduleGroupName,
    ScheduleExpression: rateOf[every],
    StartDate: new Date(Date.now() + Math.random() * millisecondsOf[every]),
    FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: flexibleWindowMinutes },
    Target: {
      Arn: outputs.ScheduledScanFunctionArn,
      RoleArn: outputs.ScheduledScanRoleArn,
      Input: JSON.stringify({ organizationId: org }),
      RetryPolicy: { MaximumRetryAttempts: 5, MaximumEventAgeInSeconds: 3600 },
    },
  } as const;
  try {
    await client().send(new CreateScheduleCommand(input));
  } catch (error) {
    if (!(error instanceof ConflictException)) throw error;
    await client().send(new UpdateScheduleCommand(input));
  }
};

/** Ends an organization's scheduled scans; no error when there are none. */
export const unschedule = async (org: number, outputs: ScheduleOutputs): Promise<void> => {
  try {
    await client().send(
      new DeleteScheduleCommand({ Name: scheduleName(org), GroupName: outputs.ScheduleGroupName }),
    );
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
  }
};
