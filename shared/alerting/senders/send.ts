import type { ChannelForm } from "../channels/channel.ts";
import type { Addressee } from "../recipients/recipient.ts";
import { type Event, envelope } from "./envelope.ts";
import * as mail from "./mail.ts";
import { type Notice, type NoticeContext, noticeOf } from "./notice.ts";
import { type AttemptResult, post } from "./outbound.ts";
import { noticeOfOwner, type OwnerReport } from "./owner-report.ts";
import type { Report } from "./report.ts";
import { sign, signatureHeader, standardHeaders } from "./signature.ts";
import * as slack from "./slack.ts";
import type { Summary } from "./summary.ts";
import { noticeOfSummary } from "./summary-words.ts";

/** What an attempt tells. */
export type Content = Report | Summary | OwnerReport;

/** Where an attempt sends to: a form, or of a channel by e-mail who gets a copy now. */
export type Receiver =
  | Exclude<ChannelForm, { channel: "email" }>
  | { channel: "email"; recipients: readonly Addressee[] };

/**
 * Sends one attempt of a delivery in the format of its channel, within 10 seconds. `at`: the time of the attempt. Failures of the receiver
 * or the network are returned, not thrown. Throws a ZodError when the event of a webhook does not match its
 * schema (envelope.ts).
 */
export const send = async (
  receiver: Receiver,
  { deliveryId, at }: { deliveryId: number; at: Date },
  content: Content,
  context: NoticeContext,
): Promise<AttemptResult> => {
  switch (receiver.channel) {
    case "email":
      return mail.send(receiver.recipients, deliveryId, noticeFor(content, context), context.dashboardUrl);
    case "slack":
      return slack.send(receiver.config.webhookUrl, noticeFor(content, context));
    case "webhook":
      return sendWebhook(receiver.config, { ...eventOf(content), id: deliveryId, at });
  }
};

const eventOf = (content: Content): Event => {
  if ("kind" in content) throw new Error("Webhooks get events alone");
  return content.event;
};

const noticeFor = (content: Content, context: NoticeContext): Notice => {
  if (!("kind" in content)) return noticeOf(content, context);
  return content.kind === "owner" ? noticeOfOwner(content, context) : noticeOfSummary(content, context);
};

const sendWebhook = (
  { url, secret }: Extract<ChannelForm, { channel: "webhook" }>["config"],
  event: Event & { id: number; at: Date },
): Promise<AttemptResult> => {
  const body = envelope(event);
  const signatures =
    secret === undefined
      ? {}
      : { [signatureHeader]: sign(body, secret), ...standardHeaders({ ...event, body }, secret) };
  return post({ url, headers: signatures, body });
};

/**
 * What `send` gives to a channel of this kind, as text: no signature, and of an e-mail the subject and the text, without a recipient's
 * own link.
 */
export const payloadOf = (
  kind: ChannelForm["channel"],
  { deliveryId, at }: { deliveryId: number; at: Date },
  content: Content,
  context: NoticeContext,
): string => {
  switch (kind) {
    case "email": {
      const { subject, text } = mail.messageOf(noticeFor(content, context));
      return `Subject: ${subject}\n\n${text}`;
    }
    case "slack":
      return JSON.stringify(slack.messageOf(noticeFor(content, context)));
    case "webhook":
      return envelope({ ...eventOf(content), id: deliveryId, at });
  }
};
