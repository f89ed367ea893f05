import { Duration, Validations } from "aws-cdk-lib";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { QueueWorker } from "../shared/contract/worker.ts";

/**
 * How often a message is received before it goes to the dead-letter queue. Lambda's throttling counts as a
 * receive too. With few receives, sound messages would end there after an hour without concurrency. A message
 * that always fails takes about half a day, since consume.ts spaces its receives.
 */
const maximumReceives = 100;

/**
 * The queue that keeps what was given up for 14 days, so that somebody can look at it. It is one for all queues and
 * schedules, so that one alarm is enough.
 */
export function createDeadLetterQueue(scope: Construct, name: string): Queue {
  const queue = new Queue(scope, "DeadLetters", {
    queueName: `${name}-dead-letters`,
    retentionPeriod: Duration.days(14),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
  });
  Validations.of(queue).acknowledge({
    id: "AwsSolutions-SQS3",
    reason: "This is the dead-letter queue itself",
  });
  return queue;
}

/** The queue of one worker. `name`: what the names of all queues begin with. */
export class WorkQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, name: string, worker: QueueWorker, deadLetters: Queue) {
    super(scope, `${worker.queue}-queue`);
    this.queue = new Queue(this, "Queue", {
      queueName: `${name}-${worker.queue}`,
      // Six times the timeout, as Lambda recommends: throttled invocations are retried within it. A worker that
      // fails shows its message again sooner; for one that dies, the sweep and the re-dispatch are quicker.
      visibilityTimeout: Duration.seconds(6 * worker.timeoutSeconds),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: maximumReceives },
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
  }
}
