/** The kinds of channels. How they send is in senders.ts, so that functions that send nothing bundle no sender. */
import { email } from "./email/email.ts";
import type { AnyForm, Kind } from "./kind.ts";
import { owner } from "./owner/owner.ts";
import { slack } from "./slack/slack.ts";
import { webhook } from "./webhook/webhook.ts";

const kinds: Readonly<Record<AnyForm["channel"], Kind>> = { email, owner, slack, webhook };

export const kindOf = ({ channel }: { channel: AnyForm["channel"] }): Kind => kinds[channel];
