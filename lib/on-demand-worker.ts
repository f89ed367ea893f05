import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import type { Construct } from "constructs";
import type { OnDemandWorker } from "../shared/contract/worker.ts";
import type { Alarms } from "./alarms.ts";
import { createScheduleRole } from "./schedule-role.ts";
import { ServiceFunction, type ServiceFunctionProps } from "./service-function.ts";

type OnDemandWorkerProps = Pick<ServiceFunctionProps, "name" | "code" | "resources"> & {
  worker: OnDemandWorker;
};

/** A function that the schedules of the stack's group invoke, and the role with which they invoke it. */
export class OnDemandWorkerFunction extends ServiceFunction {
  readonly scheduleRoleArn: string;

  constructor(scope: Construct, { name, code, resources, worker }: OnDemandWorkerProps, alarms: Alarms) {
    super(scope, { name, code, resources, ...worker });
    this.scheduleRoleArn = createScheduleRole(this, resources.scheduleGroup.ref, this.function).roleArn;
    alarms.onErrors(name, this.function, worker.impact);
    // No dead-letter queue: its messages would say no more than the alarm.
    const dropped = new Metric({
      namespace: "AWS/Scheduler",
      metricName: "InvocationDroppedCount",
      dimensionsMap: { ScheduleGroup: resources.scheduleGroup.ref },
      statistic: "Sum",
    });
    alarms.add(`${name}-dropped`, dropped, worker.impact);
  }
}
