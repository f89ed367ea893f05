/** How a schedule that fires reaches its target, a Lambda function. */
import { setTimeout } from "node:timers/promises";
import { statementsOf } from "../iam/iam.ts";
import { decide } from "../iam/policy.ts";
import type { Lambda } from "../lambda/lambda.ts";
import type { Assembly } from "../template/assembly.ts";
import type { Schedule } from "./schedule.ts";

export type TargetOptions = {
  assembly: Assembly;
  lambda: Pick<Lambda, "invoke">;
  speed: number;
  report: (line: string) => void;
  /** Aborted when the scheduler closes: nothing is invoked any more. */
  closing: AbortSignal;
};

/** Before each retry of Lambda, when a function fails that was invoked asynchronously. */
const functionRetryDelaysMilliseconds = [60_000, 120_000];

/** What EventBridge Scheduler sends for a target without Input, as far as functions read it. */
const usualEvent = { source: "aws.scheduler", "detail-type": "Scheduled Event" };

/**
 * Invokes a schedule's function, if the schedule's role allows that. Lambda, not Scheduler, retries a
 * function that fails, as often as its settings say. What cannot be done is reported.
 */
export const reachTarget = async (
  { assembly, lambda, speed, report, closing }: TargetOptions,
  { name, definition }: Schedule,
): Promise<void> => {
  const { Arn: functionArn, RoleArn: roleArn, Input } = definition.Target;
  if (decide(statementsOf(assembly, roleArn), "lambda:InvokeFunction", functionArn) !== "allow") {
    return report(
      `Schedule ${name} could not reach its target: its role ${roleArn} does not allow ` +
        `lambda:InvokeFunction on ${functionArn}`,
    );
  }
  const setting = assembly
    .ofType<{ FunctionName: string; MaximumRetryAttempts?: number }>("AWS::Lambda::EventInvokeConfig")
    .find(({ properties }) => functionArn.endsWith(`:${properties.FunctionName}`));
  const retries = setting?.properties.MaximumRetryAttempts ?? functionRetryDelaysMilliseconds.length;
  for (const delay of [0, ...functionRetryDelaysMilliseconds.slice(0, retries)]) {
    await setTimeout(delay / speed, undefined, { ref: false });
    if (closing.aborted) return;
    const result = await lambda.invoke(functionArn, Input === undefined ? usualEvent : JSON.parse(Input));
    if (!("functionError" in result)) return;
    report(`Schedule ${name}: its function failed: ${result.payload.errorMessage}`);
  }
};
