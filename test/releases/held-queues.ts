/**
 * Loaded into a local service with `node --import`: messages for the queues that the file HELD_QUEUES names (JSON: names without the
 * stack's) are written into the file HELD_MESSAGES, a line each, and are not delivered.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { SqsQueue } from "../../local/sqs/fauxqs.ts";

const { HELD_QUEUES = "", HELD_MESSAGES = "" } = process.env;

const enqueue = SqsQueue.prototype.enqueue;
SqsQueue.prototype.enqueue = function (this: SqsQueue, message) {
  const held: string[] = JSON.parse(readFileSync(HELD_QUEUES, "utf8"));
  const queue = held.find((name) => this.name.endsWith(`production-${name}`));
  if (queue === undefined) return enqueue.call(this, message);
  appendFileSync(HELD_MESSAGES, `${JSON.stringify({ queue, body: message.body })}\n`);
};
