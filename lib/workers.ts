/** Functions that queues and schedules invoke. */
import { Duration, Stack } from "aws-cdk-lib";
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { EventSourceMapping, type IFunction } from "aws-cdk-lib/aws-lambda";
import { SqsDestination } from "aws-cdk-lib/aws-lambda-destinations";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { Queue } from "aws-cdk-lib/aws-sqs";
import type { Construct } from "constructs";
import type { OnDemandWorker, QueueWorker, ScheduledWorker } from "../shared/contract/worker.ts";
import { ServiceFunction, type ServiceFunctionProps } from "./service-function.ts";

type WorkerProps<Worker> = Pick<ServiceFunctionProps, "name" | "code" | "resources"> & { worker: Worker };

/**
 * A function that a queue feeds. A failed message is a failed invocation, and the worker deletes the others
 * of its batch.
 */
export class QueueWorkerFunction extends ServiceFunction {
  constructor(scope: Construct, { name, code, resources, worker }: WorkerProps<QueueWorker>) {
    const uses = [...worker.uses, `receive:${worker.queue}` as const];
    super(scope, { name, code, resources, ...worker, uses });
    new EventSourceMapping(this, "Source", {
      target: this.function,
      eventSourceArn: resources.queues[worker.queue].queueArn,
      batchSize: worker.batchSize ?? 1,
      // Workers report nothing and throw, so that the alarm sees a failed run. Without this setting Lambda
      // would poll a queue less while runs fail. One message that always fails would slow down all others.
      reportBatchItemFailures: true,
      // Lambda polls an idle queue with two pollers instead of five if there is no maximum.
      ...(worker.maximumConcurrency !== undefined &&
        resources.limitsConcurrency && { maxConcurrency: worker.maximumConcurrency }),
      // Without a sender of e-mail nothing sends to the queue of mails.
      enabled: worker.needsSender !== true || resources.sender !== undefined,
    });
  }
}

/** A function that runs at a fixed rate. Events that Scheduler cannot hand over become dead letters. */
export class ScheduledWorkerFunction extends ServiceFunction {
  constructor(scope: Construct, { name, code, resources, worker }: WorkerProps<ScheduledWorker>) {
    super(scope, { name, code, resources, ...worker });
    // Lambda drops an event whose run fails, or is throttled until the next run is due. The next run does the
    // same work. The metric of failed or throttled runs tells.
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

/** A function that the schedules of the stack's group invoke, and the role with which they invoke it. */
export class OnDemandWorkerFunction extends ServiceFunction {
  readonly scheduleRoleArn: string;

  constructor(scope: Construct, { name, code, resources, worker }: WorkerProps<OnDemandWorker>) {
    const { deadLetters, scheduleGroup } = resources;
    super(scope, {
      name,
      code,
      resources,
      ...worker,
      uses: [...worker.uses, "dead-letters"],
    });
    // The next run of such a schedule is a day or a week away. An event that fails on every try, or finds no
    // concurrency for so long, becomes a dead letter. The dead letter names the function and holds the event.
    this.function.configureAsyncInvoke({
      retryAttempts: 2,
      maxEventAge: Duration.hours(worker.maximumEventAgeHours),
      onFailure: new SqsDestination(deadLetters),
    });
    this.scheduleRoleArn = createScheduleRole(this, scheduleGroup.ref, this.function, deadLetters).roleArn;
  }
}

/**
 * The role with which EventBridge Scheduler invokes one function, for the schedules of one group only. Events
 * that it cannot hand over go to the dead-letter queue.
 */
function createScheduleRole(
  scope: Construct,
  groupName: string,
  target: IFunction,
  deadLetters: Queue,
): Role {
  const stack = Stack.of(scope);
  const group = stack.formatArn({
    service: "scheduler",
    resource: "schedule-group",
    resourceName: groupName,
  });
  const invoke = new PolicyStatement({
    actions: ["lambda:InvokeFunction"],
    resources: [target.functionArn],
  });
  const leave = new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [deadLetters.queueArn] });
  return new Role(scope, "ScheduleRole", {
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: { StringEquals: { "aws:SourceAccount": stack.account, "aws:SourceArn": group } },
    }),
    inlinePolicies: { Uses: new PolicyDocument({ statements: [invoke, leave] }) },
  });
}
