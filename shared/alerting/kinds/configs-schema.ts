/** The configs of all kinds of channels that people set up. */
import { emailConfig, shownEmailConfig } from "./email/email-schema.ts";
import { shownSlackConfig, slackConfig } from "./slack/slack-schema.ts";
import { shownWebhookConfig, webhookConfig } from "./webhook/webhook-schema.ts";

/** As clients write it. */
export const channelConfig = { email: emailConfig, slack: slackConfig, webhook: webhookConfig } as const;

/** As replies show it: without urls and secrets, which can be written but not read. */
export const shownConfig = {
  webhook: shownWebhookConfig,
  slack: shownSlackConfig,
  email: shownEmailConfig,
} as const;
