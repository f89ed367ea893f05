import type { ChannelForm } from "../channels/channel.ts";
import type { Addressee } from "../recipients/recipient.ts";
import { type Event, envelope } from "./envelope.ts";
import * as mail from "./mail.ts";
import { type NoticeContext, noticeOf } from "./notice.ts";
import { type AttemptResult, post } from "./outbound.ts";
import type { Report } from "./report.ts";
import { sign, signatureHeader } from "./signature.ts";
import * as slack from "./slack.ts";

/** What is sent: a form, or of a channel by e-mail who gets a copy now, and whom to tell about each that SES took. */
export type Sendable =
  | Exclude<ChannelForm, { channel: "email" }>
  | { channel: "email"; recipients: readonly Addressee[]; reached: (address: string) => void };

/**
 * Sends one attempt of a delivery in the format of its channel, within 10 seconds. Failures of the receiver
 * or the network are returned, not thrown. Throws a ZodError when the event of a webhook does not match its
 * schema (envelope.ts).
 */
export const send = async (
  channel: Sendable,
  deliveryId: number,
  report: Report,
  context: NoticeContext,
): Promise<AttemptResult> => {
  switch (channel.channel) {
    case "email":
      return mail.send(channel.recipients, deliveryId, noticeOf(report, context), {
        dashboardUrl: context.dashboardUrl,
        reached: channel.reached,
      });
    case "slack":
      return slack.send(channel.config.webhookUrl, noticeOf(report, context));
    case "webhook":
      return sendWebhook(channel.config, deliveryId, report.event);
  }
};

const sendWebhook = (
  { url, secret }: Extract<ChannelForm, { channel: "webhook" }>["config"],
  id: number,
  event: Event,
): Promise<AttemptResult> => {
  const body = envelope({ ...event, id, at: new Date() });
  const signature = secret === undefined ? {} : { [signatureHeader]: sign(body, secret) };
  return post({ url, headers: signature, body });
};
