import type { ChannelForm } from "../channels/channel.ts";
import { asLine } from "../kinds/as-line.ts";
import { type Event, envelope } from "../kinds/envelope.ts";
import * as mail from "../kinds/mail.ts";
import type { Notice, NoticeContext } from "../kinds/notice.ts";
import { type AttemptResult, post } from "../kinds/outbound.ts";
import type { Addressee } from "../kinds/recipient.ts";
import { sign, signatureHeader, standardHeaders } from "../kinds/signature.ts";
import * as slack from "../kinds/slack.ts";
import type { Content } from "./content.ts";
import { wordsFor } from "./words.ts";

/** Where an attempt sends to: a form, or of a channel by e-mail who gets a copy now. */
export type Receiver =
  | Exclude<ChannelForm, { channel: "email" }>
  | { channel: "email"; recipients: readonly Addressee[] };

/** `at`: the time of the attempt. */
type Attempted = { deliveryId: number; at: Date };

/**
 * Sends one attempt of a delivery in the format of its channel, within 10 seconds. Failures of the receiver
 * or the network are returned, not thrown. Throws a ZodError when the event of a webhook does not match its
 * schema (envelope.ts).
 */
export const send = async (
  receiver: Receiver,
  attempted: Attempted,
  content: Content,
  context: NoticeContext,
): Promise<AttemptResult> => {
  switch (receiver.channel) {
    case "email":
      return mail.send(
        receiver.recipients,
        attempted.deliveryId,
        noticeOf(content, context),
        context.dashboardUrl,
      );
    case "slack":
      return slack.send(receiver.config.webhookUrl, noticeOf(content, context));
    case "webhook": {
      const { url, secret } = receiver.config;
      const body = bodyOf(content, attempted);
      const headers =
        secret === undefined
          ? {}
          : {
              [signatureHeader]: sign(body, secret),
              ...standardHeaders({ id: attempted.deliveryId, at: attempted.at, body }, secret),
            };
      return post({ url, headers, body });
    }
  }
};

/** What a webhook gets. */
const bodyOf = (content: Content, { deliveryId, at }: Attempted): string =>
  envelope({ ...eventOf(content), id: deliveryId, at });

export const eventOf = (content: Content): Event => {
  const { kind } = content;
  const person = kind === "example" ? content.of : content;
  if (person.kind === "person") {
    // The contract has no other field that can say that an event is a test.
    const titleOf = (title: string) => (kind === "example" ? `Test: ${title}` : title);
    const breaches = person.breaches.map((breach) => ({
      ...breach,
      title: titleOf(breach.title),
      breachId: breach.id,
    }));
    return { type: "breach", data: { breaches } };
  }
  if (content.kind !== "scan") throw new Error("Webhooks get events alone");
  const { type, ...data } = content.event;
  return { type, data } as Event;
};

/**
 * What `send` gives to a channel of this kind, as text: no signature, and of an e-mail the subject and the
 * text, without a recipient's own link.
 */
export const payloadOf = (
  kind: ChannelForm["channel"],
  attempted: Attempted,
  content: Content,
  context: NoticeContext,
): string => {
  switch (kind) {
    case "email": {
      const { subject, text } = mail.messageOf(noticeOf(content, context));
      return `Subject: ${subject}\n\n${text}`;
    }
    case "slack":
      return JSON.stringify(slack.messageOf(noticeOf(content, context)));
    case "webhook":
      return bodyOf(content, attempted);
  }
};

/** In characters. */
const maximumOrganization = 100;
const maximumOrganizationInSubject = 60;

export const noticeOf = (
  content: Content,
  { organizationName: name, dashboardUrl }: NoticeContext,
): Notice => {
  const organizationName = asLine(name, maximumOrganization);
  const nameInSubject = asLine(name, maximumOrganizationInSubject);
  const { subject, ...words } = wordsFor(content, { organizationName, dashboardUrl });
  const isOfPeople = subject !== undefined && content.kind !== "owner";
  return {
    severity: undefined,
    threads: [],
    facts: [],
    items: [],
    advice: undefined,
    link: undefined,
    ...words,
    summary: `${subject ?? words.headline} ${isOfPeople ? `at ${nameInSubject}` : `(${nameInSubject})`}`,
    organizationName,
  };
};
