import { EventSourceMapping } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import type { QueueWorker } from "../shared/contract/worker.ts";
import { ServiceFunction, type ServiceFunctionProps } from "./service-function.ts";

type QueueWorkerProps = Pick<ServiceFunctionProps, "name" | "code" | "resources"> & { worker: QueueWorker };

/** A function that a queue feeds. A failed message is a failed invocation, and the worker deletes the others of its batch. */
export class QueueWorkerFunction extends ServiceFunction {
  constructor(scope: Construct, { name, code, resources, worker }: QueueWorkerProps) {
    const uses = [...worker.uses, `receive:${worker.queue}` as const];
    super(scope, { name, code, resources, ...worker, uses });
    new EventSourceMapping(this, "Source", {
      target: this.function,
      eventSourceArn: resources.queues[worker.queue].queueArn,
      batchSize: worker.batchSize ?? 1,
      // Workers report nothing and throw, so that the alarm sees a failed run. Without this setting Lambda would poll a
      // queue less while runs fail, and one message that always fails would slow down all others.
      reportBatchItemFailures: true,
      // Lambda polls an idle queue with two pollers instead of five if there is no maximum.
      ...(worker.maximumConcurrency !== undefined &&
        resources.limitsConcurrency && { maxConcurrency: worker.maximumConcurrency }),
      // Without a sender of e-mail nothing sends to the queue of mails.
      enabled: worker.needsSender !== true || resources.sender !== undefined,
    });
  }
}
