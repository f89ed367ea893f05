/**
 * Loaded into a local service with `--import`: its queues lose messages that they took and deliver messages twice, as
 * QUEUE_FAULTS says (JSON: QueueFaults). Says so on the service's output.
 */
import { SqsQueue } from "../../node_modules/fauxqs/dist/sqs/sqsStore.js";
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
