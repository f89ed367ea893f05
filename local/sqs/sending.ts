/**
 * What fauxqs lacks when messages are sent: groups, delays that pass faster, and a limit for delays. The delay
 * that ChangeMessageVisibility sets passes faster too.
 */
import type { Fauxqs, Queue } from "./fauxqs.ts";

/** An entry of SendMessageBatch, or a SendMessage request. */
type SendEntry = {
  Id?: string;
  DelaySeconds?: number;
  MessageGroupId?: string;
  MessageAttributes?: object;
};

type SendRequest = SendEntry & { QueueUrl?: string; Entries?: SendEntry[] };

type RefusedEntry = { Id: string | undefined; SenderFault: true; Code: string; Message: string };

const mediaType = "application/x-amz-json-1.0";
const maximumDelaySeconds = 900;

/** `speed`: how many times faster delays pass. */
export const handleSending = (fauxqs: Fauxqs, speed: number): void => {
  const { app, queueByUrl } = fauxqs;
  /** Entries of a batch that were refused here, until fauxqs has answered the rest of the batch. */
  const refusedOf = new WeakMap<object, RefusedEntry[]>();

  app.addHook("preHandler", async (request, reply) => {
    const action = request.headers["x-amz-target"]?.toString().replace("AmazonSQS.", "");
    if (action === "ChangeMessageVisibility") {
      const change = request.body as { VisibilityTimeout?: number };
      if (change.VisibilityTimeout !== undefined) change.VisibilityTimeout /= speed;
    }
    if (action !== "SendMessage" && action !== "SendMessageBatch") return;
    const body = request.body as SendRequest;
    const queue = queueByUrl(body.QueueUrl ?? "");
    if (queue === undefined) return;
    const entries = action === "SendMessage" ? [body] : (body.Entries ?? []);
    const refused = entries.flatMap(refuseDelay);
    const [first] = refused;
    if (first !== undefined && action === "SendMessage") {
      return reply
        .status(400)
        .type(mediaType)
        .header("x-amzn-query-error", `${first.Code};Sender`)
        .send({ __type: `com.amazonaws.sqs#${first.Code}`, message: first.Message });
    }
    if (first !== undefined) {
      body.Entries = entries.filter((entry) => !refused.some(({ Id }) => Id === entry.Id));
      if (body.Entries.length === 0) return reply.type(mediaType).send({ Successful: [], Failed: refused });
      refusedOf.set(request, refused);
    }
    for (const entry of entries) {
      accelerate(entry, queue, speed);
      fauxqs.keepGroup(entry);
    }
  });

  app.addHook("preSerialization", async (request, _reply, payload) => {
    const refused = refusedOf.get(request);
    const result = payload as { Failed?: RefusedEntry[] };
    return refused === undefined ? payload : { ...result, Failed: [...(result.Failed ?? []), ...refused] };
  });
};

/** FIFO queues take no delay for a single message. */
const accelerate = (entry: SendEntry, queue: Queue, speed: number): void => {
  if (!queue.isFifo) entry.DelaySeconds = (entry.DelaySeconds ?? queue.delaySeconds()) / speed;
};

const refuseDelay = ({ Id, DelaySeconds: delay }: SendEntry): RefusedEntry[] => {
  const isValid =
    delay === undefined || (Number.isInteger(delay) && delay >= 0 && delay <= maximumDelaySeconds);
  if (isValid) return [];
  const Message =
    `Value ${delay} for parameter DelaySeconds is invalid. ` +
    `Reason: DelaySeconds must be >= 0 and <= ${maximumDelaySeconds}.`;
  return [{ Id, SenderFault: true, Code: "InvalidParameterValue", Message }];
};
