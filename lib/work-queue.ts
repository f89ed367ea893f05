import { Duration, Stack } from "aws-cdk-lib";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { QueueWorker } from "../shared/contract/worker.ts";
import type { Alarms } from "./alarms.ts";

/**
 * How often a message is received before it goes to the dead-letter queue. Lambda's throttling counts as a
 * receive too, so that a few would end there in an hour without concurrency, although nothing is wrong with
 * them. A message that always fails takes about half a day, since retry-delay.ts spaces its receives.
 */
const maximumReceives = 100;

/** A queue that keeps messages that could not be processed for 14 days, so that somebody can look at them. */
export function createDeadLetterQueue(scope: Construct, name: string): Queue {
  return new Queue(scope, "DeadLetters", {
    queueName: `${Stack.of(scope).stackName}-${name}-dead-letters`,
    retentionPeriod: Duration.days(14),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
  });
}

/**
 * The queue of one worker and its dead-letter queue, with an alarm that goes off at the first dead letter.
 */
export class WorkQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, worker: QueueWorker, alarms: Alarms) {
    super(scope, `${worker.queue}-queue`);
    const deadLetters = createDeadLetterQueue(this, worker.queue);
    this.queue = new Queue(this, "Queue", {
      queueName: `${Stack.of(this).stackName}-${worker.queue}`,
      // Six times the timeout, as Lambda recommends: throttled invocations are retried within it. A worker that
      // fails shows its message again sooner; for one that dies, the sweep and the re-dispatch are quicker.
      visibilityTimeout: Duration.seconds(6 * worker.timeoutSeconds),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: maximumReceives },
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    alarms.onDeadLetters(worker.queue, deadLetters, worker.impact);
  }
}
