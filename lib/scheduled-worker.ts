import { Duration } from "aws-cdk-lib";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { Construct } from "constructs";
import type { ScheduledWorker } from "../shared/contract/worker.ts";
import { createScheduleRole } from "./schedule-role.ts";
import { ServiceFunction, type ServiceFunctionProps } from "./service-function.ts";

type ScheduledWorkerProps = Pick<ServiceFunctionProps, "name" | "code" | "resources"> & {
  worker: ScheduledWorker;
};

/** A function that runs at a fixed rate. Events that Scheduler cannot hand over become dead letters. */
export class ScheduledWorkerFunction extends ServiceFunction {
  constructor(scope: Construct, { name, code, resources, worker }: ScheduledWorkerProps) {
    super(scope, { name, code, resources, ...worker });
    // Lambda drops an event when its run fails, or is throttled until the next run is due, which does the
    // same work. The metric of failed runs, or that of throttled ones, tells.
    this.function.configureAsyncInvoke({
      retryAttempts: 0,
      maxEventAge: Duration.minutes(worker.everyMinutes),
    });
    const { deadLetters } = resources;
    const role = createScheduleRole(this, "default", this.function, deadLetters);
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
  }
}
