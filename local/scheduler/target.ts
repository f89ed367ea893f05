/** How a schedule that fires reaches its target, a Lambda function. */
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
  /** Aborted when the scheduler closes: nothing is invoked any more. */
  closing: AbortSignal;
};

/** Before each retry of Lambda, when a function fails that was invoked asynchronously. */
const functionRetryDelaysMilliseconds = [60_000, 120_000];

/** Invokes a schedule's function. An event that its role does not allow is reported, and becomes a dead letter. */
export const reachTarget = async (
  options: TargetOptions,
  schedule: Schedule,
  occurrence: number,
): Promise<void> => {
  const { assembly, sqs, report } = options;
  const { Arn: functionArn, RoleArn: roleArn, DeadLetterConfig } = schedule.definition.Target;
  const input = inputOf(options, schedule, new Date(occurrence).toISOString());
  const allows = (action: string, arn: string): boolean =>
    decide(statementsOf(assembly, roleArn), action, arn) === "allow";
  if (allows("lambda:InvokeFunction", functionArn)) {
    await invoke(options, schedule, JSON.parse(input));
    return;
  }
  report(
    `Schedule ${schedule.name} could not reach its target: its role ${roleArn} does not allow lambda:InvokeFunction on ${functionArn}`,
  );
  const queueArn = DeadLetterConfig?.Arn;
  if (queueArn !== undefined && allows("sqs:SendMessage", queueArn)) sqs.send(queueArn, input);
};

/** The target's Input; without one, Scheduler's usual event. */
const inputOf = ({ assembly, arnOf }: TargetOptions, schedule: Schedule, time: string): string =>
  schedule.definition.Target.Input ??
  JSON.stringify({
    version: "0",
    id: randomUUID(),
    "detail-type": "Scheduled Event",
    source: "aws.scheduler",
    account: assembly.accountId,
    time,
    region: assembly.region,
    resources: [arnOf(schedule)],
    detail: "{}",
  });

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
