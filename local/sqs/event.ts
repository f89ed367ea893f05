/** Lambda's event for messages of a queue. */
import type { Queue, TakenMessage } from "./fauxqs.ts";

export const eventOf = (queue: Queue, region: string, messages: readonly TakenMessage[]): object => ({
  Records: messages.map((message) => recordOf(queue, region, message)),
});

const recordOf = (queue: Queue, region: string, message: TakenMessage): object => {
  const { group, deduplicationId, sequenceNumber, md5OfAttributes } = message;
  return {
    messageId: message.id,
    receiptHandle: message.receiptHandle,
    body: message.body,
    attributes: {
      ApproximateReceiveCount: String(message.receiveCount),
      SentTimestamp: String(message.sentAt),
      SenderId: "000000000000",
      ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
      ...(group !== undefined && { MessageGroupId: group }),
      ...(deduplicationId !== undefined && { MessageDeduplicationId: deduplicationId }),
      ...(sequenceNumber !== undefined && { SequenceNumber: sequenceNumber }),
    },
    messageAttributes: messageAttributesOf(message),
    md5OfBody: message.md5OfBody,
    ...(md5OfAttributes !== undefined && { md5OfMessageAttributes: md5OfAttributes }),
    eventSource: "aws:sqs",
    eventSourceARN: queue.arn,
    awsRegion: region,
  };
};

const messageAttributesOf = ({ attributes }: TakenMessage): object =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, { StringValue, BinaryValue, DataType }]) => [
      name,
      {
        stringValue: StringValue,
        binaryValue: BinaryValue,
        stringListValues: [],
        binaryListValues: [],
        dataType: DataType,
      },
    ]),
  );
