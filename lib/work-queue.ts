import { Duration, Stack } from "aws-cdk-lib";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import type { QueueWorker } from "../shared/queue/worker.ts";
import type { Alarms } from "./alarms.ts";

/** Deliveries of a message before it goes to the dead-letter queue. */
const maximumReceives = 5;

/** A queue that keeps what could not be processed long enough for somebody to look at it; one message raises the alarm. */
export function createDeadLetterQueue(scope: Construct, name: string): Queue {
  return new Queue(scope, "DeadLetters", {
    queueName: `${Stack.of(scope).stackName}-${name}-dead-letters`,
    retentionPeriod: Duration.days(14),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
  });
}

/** The queue of one worker, its dead-letter queue and the alarm on that. */
export class WorkQueue extends Construct {
  readonly queue: Queue;

  constructor(scope: Construct, worker: QueueWorker, alarms: Alarms) {
    super(scope, `${worker.queue}-queue`);
    const deadLetters = createDeadLetterQueue(this, worker.queue);
    this.queue = new Queue(this, "Queue", {
      queueName: `${Stack.of(this).stackName}-${worker.queue}`,
      // As Lambda asks for: room for throttled batches to be tried again before the message shows up a second time.
      visibilityTimeout: Duration.seconds(6 * worker.timeoutSeconds),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: maximumReceives },
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
    });
    alarms.onDeadLetters(worker.queue, deadLetters, worker.impact);
  }
}
