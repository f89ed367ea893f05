/**
 * Loaded into a local service with `node --import`: its queues then lose accepted messages and deliver
 * messages twice. QUEUE_FAULTS holds the probabilities (JSON: QueueFaults). Each fault is a line of the
 * service's output.
 */
import { SqsQueue } from "../sqs/fauxqs.ts";
import { type QueueFaults, randomFrom } from "./chaos.ts";

const faults = JSON.parse(process.env.QUEUE_FAULTS ?? "") as QueueFaults;
const random = randomFrom(faults.seed);

const enqueue = SqsQueue.prototype.enqueue;
SqsQueue.prototype.enqueue = function (this: SqsQueue, message) {
  const luck = random();
  if (luck < faults.lost) {
    console.log(`queue lost a message of ${this.name}`);
    return;
  }
  enqueue.call(this, message);
  if (luck < faults.lost + faults.doubled) {
    console.log(`queue doubled a message of ${this.name}`);
    enqueue.call(this, { ...message });
  }
};
