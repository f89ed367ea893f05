import type { Sender, TextOf } from "../kind.ts";
import { post } from "../outbound.ts";
import { messageOf } from "./message.ts";
import type { SlackConfig } from "./slack-schema.ts";

/**
 * With these Slack refuses a hook that takes no message until somebody changes it (docs.slack.dev, "Handling
 * errors" of webhooks).
 */
const finalStatuses = [403, 404, 410];

export const slackText: TextOf = ({ notice }) => JSON.stringify(messageOf(notice()));

export const slackSender: Sender<SlackConfig> = {
  send: ({ webhookUrl }, told, attempted) =>
    post({
      url: webhookUrl,
      headers: {},
      body: slackText(told, attempted),
      finalStatuses,
      throttledStatuses: [429],
    }),
};
