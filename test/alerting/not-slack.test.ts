import { expect, test } from "vitest";
import { reasonAgainstSlack } from "../../shared/alerting/kinds/slack/not-slack.ts";

test.each([
  "https://hooks.slack.com/services/T0/B0/x",
  "https://hooks.slack-gov.com/services/T0/B0/x",
  "https://discord.com/api/webhooks/1/x/slack",
  "https://mattermost.acme.example/hooks/x",
  "https://evil-logic.azure.com.example/x",
  "https://notwebhook.office.com/x",
])("%s may be a Slack channel", (url) => {
  expect(reasonAgainstSlack(new URL(url))).toBeUndefined();
});
