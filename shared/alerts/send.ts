import type { Channel } from "./channel.ts";
import { type Event, envelope } from "./envelope.ts";
import * as mail from "./mail.ts";
import { noticeOf } from "./notice.ts";
import { type Outcome, post } from "./outbound.ts";
import { sign, signatureHeader } from "./signature.ts";
import * as slack from "./slack.ts";

/**
 * Sends one attempt of a delivery in the form of its channel, within 10 seconds. What the receiver or the network does is
 * an outcome, never thrown. Throws a ZodError when a webhook's event is not as the contract says.
 */
export const send = async (
  channel: Channel,
  deliveryId: number,
  event: Event,
  context: { organizationName: string },
): Promise<Outcome> => {
  switch (channel.channel) {
    case "email":
      return mail.send(channel.config.recipients, deliveryId, noticeOf(event, context));
    case "slack":
      return slack.send(channel.config.webhookUrl, noticeOf(event, context));
    case "webhook":
      return sendWebhook(channel.config, deliveryId, event);
  }
};

const sendWebhook = (
  { url, secret }: Extract<Channel, { channel: "webhook" }>["config"],
  id: number,
  event: Event,
): Promise<Outcome> => {
  const body = envelope({ ...event, id, at: new Date() });
  const signature = secret === undefined ? {} : { [signatureHeader]: sign(body, secret) };
  return post({ url, headers: signature, body });
};
