/**
 * Urls of systems that are given as a Slack channel and do not read Slack's messages. Some answer 202 all the
 * same: such a channel would count as delivered, and nobody would be told
 * (github.com/elastic/kibana/issues/187823).
 */

const teams = [
  // Workflows, whose urls Microsoft has moved twice.
  "logic.azure.com",
  "api.powerplatform.com",
  "powerautomate.com",
  "flow.microsoft.com",
  // Connectors, which Microsoft has ended.
  "webhook.office.com",
  "outlook.office.com",
  "outlook.office365.com",
];

/** Why a url is no Slack channel, and what to do instead; undefined if it may be one. */
export const reasonAgainstSlack = ({ hostname, pathname }: URL): string | undefined => {
  const isOf = (...names: string[]) =>
    names.some((name) => hostname === name || hostname.endsWith(`.${name}`));
  if (isOf(...teams)) {
    return (
      "is a url of Microsoft Teams, which does not read Slack's messages: add the e-mail address " +
      "of the Teams channel as a recipient of an e-mail channel instead"
    );
  }
  if (isOf("chat.googleapis.com")) {
    return (
      "is a url of Google Chat, which does not read Slack's messages: add a webhook channel to a " +
      "function that writes to Google Chat instead"
    );
  }
  if (isOf("discord.com", "discordapp.com") && !/\/slack\/?$/.test(pathname)) {
    return "is a url of Discord, which reads Slack's messages only with /slack at the end: add that to the url";
  }
  if (isOf("events.pagerduty.com", "events.eu.pagerduty.com")) {
    return "is a url of PagerDuty, which does not read Slack's messages: add it as a webhook channel instead";
  }
  return undefined;
};
