import { Duration } from "aws-cdk-lib";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import type { Construct } from "constructs";
import type { OnDemandWorker } from "../shared/contract/worker.ts";
import { createScheduleRole } from "./schedule-role.ts";
import { ServiceFunction, type ServiceFunctionProps } from "./service-function.ts";

type OnDemandWorkerProps = Pick<ServiceFunctionProps, "name" | "code" | "resources"> & {
  worker: OnDemandWorker;
};

/** A function that the schedules of the stack's group invoke, and the role with which they invoke it. */
export class OnDemandWorkerFunction extends ServiceFunction {
  readonly scheduleRoleArn: string;

  constructor(scope: Construct, { name, code, resources, worker }: OnDemandWorkerProps) {
    const { deadLetters, scheduleGroup } = resources;
    super(scope, {
      name,
      code,
      resources,
      ...worker,
      uses: [...worker.uses, "dead-letters"],
    });
    // The next run of such a schedule is a day or a week away. What fails on every try, or finds no concurrency for so
    // long, becomes a dead letter that names the function and holds the event.
    this.function.configureAsyncInvoke({
      retryAttempts: 2,
      maxEventAge: Duration.hours(worker.maximumEventAgeHours),
      onFailure: new SqsDestination(deadLetters),
    });
    this.scheduleRoleArn = createScheduleRole(this, scheduleGroup.ref, this.function, deadLetters).roleArn;
  }
}
