import { Duration, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { Construct } from "constructs";
import type { ScheduledWorker } from "../shared/queue/worker.ts";
import type { Alarms } from "./alarms.ts";
import { createScheduleRole } from "./schedule-role.ts";
import { ServiceFunction, type ServiceFunctionProps } from "./service-function.ts";
import { createDeadLetterQueue } from "./work-queue.ts";

type ScheduledWorkerProps = Pick<ServiceFunctionProps, "name" | "code" | "resources"> & {
  worker: ScheduledWorker;
};

/** A function that runs at a fixed rate. What Scheduler cannot hand over to Lambda is a dead letter. */
export class ScheduledWorkerFunction extends ServiceFunction {
  constructor(scope: Construct, { name, code, resources, worker }: ScheduledWorkerProps, alarms: Alarms) {
    super(scope, { name, code, resources, ...worker });
    // Scheduler only hands the event over. Lambda drops it when the run fails, or is throttled until the next one is due, which
    // does the same work. Nobody learns of that but by the alarm.
    this.function.configureAsyncInvoke({
      retryAttempts: 0,
      maxEventAge: Duration.minutes(worker.everyMinutes),
    });
    const deadLetters = createDeadLetterQueue(this, name);
    Validations.of(deadLetters).acknowledge({
      id: "AwsSolutions-SQS3",
      reason: "This is the dead-letter queue of a schedule, which the rule does not look at",
    });
    const role = createScheduleRole(this, "default", this.function);
    role.addToPolicy(
      new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [deadLetters.queueArn] }),
    );
    const schedule = new CfnSchedule(this, "Schedule", {
      name: this.function.functionName,
      description: worker.impact,
      scheduleExpression: `rate(${worker.everyMinutes} ${worker.everyMinutes === 1 ? "minute" : "minutes"})`,
      flexibleTimeWindow: { mode: "OFF" },
      target: {
        arn: this.function.functionArn,
        roleArn: role.roleArn,
        deadLetterConfig: { arn: deadLetters.queueArn },
        // Later than that, the next run has taken its place.
        retryPolicy: { maximumRetryAttempts: 3, maximumEventAgeInSeconds: worker.everyMinutes * 60 },
      },
    });
    // The role's policy is a resource of its own, which the schedule does not refer to.
    schedule.node.addDependency(role);
    alarms.onDeadLetters(name, deadLetters, worker.impact);
    const over = Duration.minutes(Math.max(5, 2 * worker.everyMinutes));
    alarms.onErrors(name, this.function, worker.impact, over);
    alarms.onDropped(name, this.function, worker.impact, over);
    alarms.onNotRunning(name, this.function, worker.impact, over);
  }
}
