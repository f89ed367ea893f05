/**
 * What fauxqs lacks when messages are sent: groups, delays that pass faster, and a limit for delays. The delay
 * that ChangeMessageVisibility sets passes faster too. A batch with an invalid delay is refused as a whole.
 */
import type { Fauxqs } from "./fauxqs.ts";

/** An entry of SendMessageBatch, or a SendMessage request. */
type SendEntry = {
  DelaySeconds?: number;
  MessageGroupId?: string;
  MessageAttributes?: object;
};

type SendRequest = SendEntry & { Entries?: SendEntry[] };

const maximumDelaySeconds = 900;

/** `speed`: how many times faster delays pass. */
export const handleSending = ({ app, keepGroup }: Fauxqs, speed: number): void => {
  app.addHook("preHandler", async (request, reply) => {
    const action = request.headers["x-amz-target"]?.toString().replace("AmazonSQS.", "");
    if (action === "ChangeMessageVisibility") {
      const change = request.body as { VisibilityTimeout?: number };
      if (change.VisibilityTimeout !== undefined) change.VisibilityTimeout /= speed;
    }
    if (action !== "SendMessage" && action !== "SendMessageBatch") return;
    const body = request.body as SendRequest;
    const entries = action === "SendMessage" ? [body] : (body.Entries ?? []);
    const late = entries.find(({ DelaySeconds: delay = 0 }) => !(delay >= 0 && delay <= maximumDelaySeconds));
    if (late !== undefined) {
      const code = "InvalidParameterValue";
      return reply
        .status(400)
        .type("application/x-amz-json-1.0")
        .header("x-amzn-query-error", `${code};Sender`)
        .send({
          __type: `com.amazonaws.sqs#${code}`,
          message:
            `Value ${late.DelaySeconds} for parameter DelaySeconds is invalid. Reason: ` +
            `DelaySeconds must be >= 0 and <= ${maximumDelaySeconds}.`,
        });
    }
    for (const entry of entries) {
      if (entry.DelaySeconds !== undefined) entry.DelaySeconds /= speed;
      keepGroup(entry);
    }
  });
};
