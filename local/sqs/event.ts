/** Lambda's event for messages of a queue. */
import type { Queue, TakenMessage } from "./fauxqs.ts";

export const eventOf = (queue: Queue, region: string, messages: readonly TakenMessage[]): object => ({
  Records: messages.map((message) => recordOf(queue, region, message)),
});

const recordOf = (queue: Queue, region: string, message: TakenMessage): object => ({
  messageId: message.id,
  receiptHandle: message.receiptHandle,
  body: message.body,
  attributes: {
    ApproximateReceiveCount: String(message.receiveCount),
    SentTimestamp: String(message.sentAt),
    SenderId: "000000000000",
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
    ...(message.group !== undefined && { MessageGroupId: message.group }),
  },
  messageAttributes: {},
  md5OfBody: message.md5OfBody,
  eventSource: "aws:sqs",
  eventSourceARN: queue.arn,
  awsRegion: region,
});
