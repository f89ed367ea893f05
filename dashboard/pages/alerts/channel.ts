import type { Channel } from "../../api/routes.ts";
import { inBothForms } from "../../text/domain-name.ts";

export const kinds: Record<Channel["channel"], string> = {
  email: "E-mail",
  slack: "Slack",
  webhook: "Webhook",
};

/** What people call it, or its kind. */
export const nameOf = ({ channel, options: { name } }: Pick<Channel, "channel" | "options">): string =>
  name ?? kinds[channel];

/** What a channel can be told of, by the contract's fields. */
export const flags = [
  { name: "notifyOnNewBreach", label: "New breaches", isDefault: true },
  { name: "notifyOnScanComplete", label: "Scan complete", isDefault: false },
  { name: "notifyOnScanError", label: "Scan errors", isDefault: true },
] as const;

/** Where a channel sends to, as far as the service tells: urls are secrets. */
export function destinationOf({ config }: Pick<Channel, "config">): string {
  if ("recipients" in config) return config.recipients.map(inBothForms).join(", ");
  if ("urlPreview" in config) return `${config.urlPreview}${config.hasSecret ? "" : " (not signed)"}`;
  return config.hasWebhookUrl ? "Slack webhook" : "none";
}
