import { Duration, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { Construct } from "constructs";
import type { ScheduledWorker } from "../shared/contract/worker.ts";
import type { Alarms } from "./alarms.ts";
import { createScheduleRole } from "./schedule-role.ts";
import { ServiceFunction, type ServiceFunctionProps } from "./service-function.ts";
import { createDeadLetterQueue } from "./work-queue.ts";

type ScheduledWorkerProps = Pick<ServiceFunctionProps, "name" | "code" | "resources"> & {
  worker: ScheduledWorker;
};

/** A function that runs at a fixed rate. Events that Scheduler cannot hand over become dead letters. */
export class ScheduledWorkerFunction extends ServiceFunction {
  constructor(scope: Construct, { name, code, resources, worker }: ScheduledWorkerProps, alarms: Alarms) {
    super(scope, { name, code, resources, ...worker });
    // Lambda drops an event when its run fails, or is throttled until the next run is due, which does the
    // same work. Scheduler does not learn of that, so that only the alarm tells.
    this.function.configureAsyncInvoke({
      retryAttempts: 0,
      maxEventAge: Duration.minutes(worker.everyMinutes),
    });
    const deadLetters = createDeadLetterQueue(this, name);
    Validations.of(deadLetters).acknowledge({
      id: "AwsSolutions-SQS3",
      reason: "This is the dead-letter queue of a schedule, which the rule does not look at",
    });
    const leave = new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [deadLetters.queueArn] });
    const role = createScheduleRole(this, "default", this.function, leave);
    new CfnSchedule(this, "Schedule", {
      name: this.function.functionName,
      description: worker.impact,
      scheduleExpression: `rate(${worker.everyMinutes} ${worker.everyMinutes === 1 ? "minute" : "minutes"})`,
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: this.function.functionArn,
        roleArn: role.roleArn,
        deadLetterConfig: { arn: deadLetters.queueArn },
        // By then the next run is due and does the same work.
        retryPolicy: { maximumRetryAttempts: 3, maximumEventAgeInSeconds: worker.everyMinutes * 60 },
      },
    });
    alarms.onDeadLetters(name, deadLetters, worker.impact);
    const over = Duration.minutes(Math.max(5, 2 * worker.everyMinutes));
    alarms.onErrors(name, this.function, worker.impact, over);
    alarms.onDropped(name, this.function, worker.impact, over);
    alarms.onNotRunning(name, this.function, worker.impact, over);
  }
}
