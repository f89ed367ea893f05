/** How each kind of channel sends. */
import { emailSender, emailText } from "./email/sender.ts";
import type { AnyForm, Sender, TextOf } from "./kind.ts";
import { ownerSender } from "./owner/sender.ts";
import { slackSender, slackText } from "./slack/sender.ts";
import { webhookSender, webhookText } from "./webhook/sender.ts";

type Named = { channel: AnyForm["channel"] };
type Table<Of> = Readonly<Record<Named["channel"], Of>>;

const senders: Table<Sender> = {
  email: emailSender,
  owner: ownerSender,
  slack: slackSender,
  webhook: webhookSender,
};

export const senderOf = ({ channel }: Named): Sender => senders[channel];

/** Apart from `senders`, so that showing a message bundles no client of SES. */
const texts: Table<TextOf> = { email: emailText, owner: emailText, slack: slackText, webhook: webhookText };

export const textOf = ({ channel }: Named): TextOf => texts[channel];
