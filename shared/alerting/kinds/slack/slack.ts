import type { Kind } from "../kind.ts";
import { reasonAgainstSlack } from "./not-slack.ts";
import type { SlackConfig } from "./slack-schema.ts";

export const slack: Kind<SlackConfig> = {
  label: "Slack",
  isForPeople: true,
  mayTellOwners: false,
  isSetUp: true,
  destinationOf: ({ webhookUrl }) => ({ field: "webhookUrl", value: webhookUrl }),
  reasonAgainst: reasonAgainstSlack,
  shown: () => ({ hasWebhookUrl: true }),
};
