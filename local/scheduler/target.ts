/** How a schedule that fires reaches its target: a Lambda function or an SQS queue. */
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { statementsOf } from "../iam/iam.ts";
import { decide } from "../iam/policy.ts";
import type { Lambda } from "../lambda/lambda.ts";
import type { Sqs } from "../sqs/sqs.ts";
import type { Assembly } from "../template/assembly.ts";
import type { Schedule } from "./schedule.ts";

export type TargetOptions = {
  assembly: Assembly;
  lambda: Pick<Lambda, "invoke">;
  sqs: Pick<Sqs, "send">;
  speed: number;
  arnOf: (schedule: Schedule) => string;
  report: (line: string) => void;
  /** Aborted when the scheduler closes: nothing is tried or reported any more. */
  closing: AbortSignal;
};

type Execution = { executionId: string; attempt: number; time: string };

/** Before each attempt of Scheduler to reach a target. */
const attemptDelaysMilliseconds = [0, 1_000, 2_000];

/** Before each retry of Lambda, when a function fails that was invoked asynchronously. */
const functionRetryDelaysMilliseconds = [60_000, 120_000];

/** Reaches a schedule's target. One that keeps failing is reported and left until the next occurrence. */
export const reachTarget = async (
  options: TargetOptions,
  schedule: Schedule,
  occurrence: number,
): Promise<void> => {
  const executionId = randomUUID();
  const time = new Date(occurrence).toISOString();
  for (const [index, delay] of attemptDelaysMilliseconds.entries()) {
    await setTimeout(delay, undefined, { ref: false });
    try {
      return await tryTarget(options, schedule, { executionId, attempt: index + 1, time });
    } catch (error) {
      if (options.closing.aborted) return;
      if (index === attemptDelaysMilliseconds.length - 1) {
        options.report(`Schedule ${schedule.name} could not reach its target: ${(error as Error).message}`);
        leaveDeadLetter(
          options,
          schedule,
          inputOf(options, schedule, { executionId, attempt: index + 1, time }),
        );
      }
    }
  }
};

/** An event that no attempt could hand over goes to the schedule's dead-letter queue, if its role may send there. */
const leaveDeadLetter = ({ assembly, sqs }: TargetOptions, { definition }: Schedule, input: string): void => {
  const { RoleArn: roleArn, DeadLetterConfig: { Arn: queueArn } = {} } = definition.Target;
  if (queueArn === undefined) return;
  if (decide(statementsOf(assembly, roleArn), "sqs:SendMessage", queueArn) === "allow")
    sqs.send(queueArn, input);
};

const tryTarget = async (options: TargetOptions, schedule: Schedule, execution: Execution): Promise<void> => {
  const { assembly, sqs } = options;
  const { Arn: targetArn, RoleArn: roleArn } = schedule.definition.Target;
  const isQueue = targetArn.split(":")[2] === "sqs";
  const action = isQueue ? "sqs:SendMessage" : "lambda:InvokeFunction";
  if (decide(statementsOf(assembly, roleArn), action, targetArn) !== "allow") {
    throw new Error(`its role ${roleArn} does not allow ${action} on ${targetArn}`);
  }
  const input = inputOf(options, schedule, execution);
  if (isQueue) sqs.send(targetArn, input);
  else await invoke(options, schedule, JSON.parse(input));
};

/** The target's Input with its context attributes filled in; without an Input, Scheduler's usual event. */
const inputOf = (
  { assembly, arnOf }: TargetOptions,
  schedule: Schedule,
  { executionId, attempt, time }: Execution,
): string => {
  const scheduleArn = arnOf(schedule);
  const { Input: input } = schedule.definition.Target;
  if (input !== undefined) {
    return input
      .replaceAll("<aws.scheduler.schedule-arn>", scheduleArn)
      .replaceAll("<aws.scheduler.scheduled-time>", time)
      .replaceAll("<aws.scheduler.execution-id>", executionId)
      .replaceAll("<aws.scheduler.attempt-number>", String(attempt));
  }
  return JSON.stringify({
    version: "0",
    id: executionId,
    "detail-type": "Scheduled Event",
    source: "aws.scheduler",
    account: assembly.accountId,
    time,
    region: assembly.region,
    resources: [scheduleArn],
    detail: "{}",
  });
};

type InvokeConfig = {
  FunctionName: string;
  MaximumRetryAttempts?: number;
  DestinationConfig?: { OnFailure?: { Destination: string } };
};

/**
 * Invokes asynchronously: Lambda, not Scheduler, retries a function that fails, and leaves a record of an event that
 * failed on every try, as the function's settings say.
 */
const invoke = async (
  { assembly, lambda, sqs, speed, report, closing }: TargetOptions,
  schedule: Schedule,
  event: unknown,
): Promise<void> => {
  const { Arn: functionArn } = schedule.definition.Target;
  const setting = assembly
    .ofType<InvokeConfig>("AWS::Lambda::EventInvokeConfig")
    .find(({ properties }) => functionArn.endsWith(`:${properties.FunctionName}`));
  const retries = setting?.properties.MaximumRetryAttempts ?? functionRetryDelaysMilliseconds.length;
  let responsePayload: unknown;
  for (const delay of [0, ...functionRetryDelaysMilliseconds.slice(0, retries)]) {
    await setTimeout(delay / speed, undefined, { ref: false });
    if (closing.aborted) return;
    const result = await lambda.invoke(functionArn, event);
    if (!("functionError" in result)) return;
    report(`Schedule ${schedule.name}: its function failed: ${result.payload.errorMessage}`);
    responsePayload = result.payload;
  }
  const queueArn = setting?.properties.DestinationConfig?.OnFailure?.Destination;
  if (queueArn === undefined) return;
  const record = {
    version: "1.0",
    timestamp: new Date().toISOString(),
    requestContext: {
      requestId: randomUUID(),
      functionArn: `${functionArn}:$LATEST`,
      condition: "RetriesExhausted",
      approximateInvokeCount: retries + 1,
    },
    requestPayload: event,
    responseContext: { statusCode: 200, executedVersion: "$LATEST", functionError: "Unhandled" },
    responsePayload,
  };
  const [invoked] = assembly
    .ofType<{ Role: string }>("AWS::Lambda::Function")
    .filter(({ logicalId }) => assembly.arn(logicalId) === functionArn);
  const statements = statementsOf(assembly, invoked?.properties.Role ?? "");
  if (decide(statements, "sqs:SendMessage", queueArn) === "allow") sqs.send(queueArn, JSON.stringify(record));
};
