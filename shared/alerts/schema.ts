import * as z from "zod";
import { emailAddress } from "../emails/schema.ts";

/** Longest url and secret that a channel may have, in characters. */
const maximumUrlLength = 2048;
const maximumSecretLength = 1024;

export const channelKind = z.enum(["email", "slack", "webhook"]);
export type ChannelKind = z.infer<typeof channelKind>;

const secret = z
  .string()
  .max(maximumSecretLength)
  .refine((value) => value.isWellFormed(), "must be well-formed Unicode");

/** interface.md "Config on write". */
export const channelConfig = {
  email: z.object({ recipients: z.array(emailAddress).min(1).max(20) }),
  slack: z.object({ webhookUrl: z.string().min(1).max(maximumUrlLength) }),
  webhook: z.object({ url: z.string().min(1).max(maximumUrlLength), secret: secret.optional() }),
} as const;

const notificationFlags = {
  isEnabled: z.boolean(),
  notifyOnNewBreach: z.boolean(),
  notifyOnScanComplete: z.boolean(),
  notifyOnScanError: z.boolean(),
};

const withDefaults = {
  isEnabled: notificationFlags.isEnabled.default(true),
  notifyOnNewBreach: notificationFlags.notifyOnNewBreach.default(true),
  notifyOnScanComplete: notificationFlags.notifyOnScanComplete.default(false),
  notifyOnScanError: notificationFlags.notifyOnScanError.default(true),
};

/** interface.md "POST /alert-configs"; defaults: decisions.md "Alert channels". */
export const newAlertConfig = z.discriminatedUnion("channel", [
  z.object({ channel: z.literal("email"), config: channelConfig.email, ...withDefaults }),
  z.object({ channel: z.literal("slack"), config: channelConfig.slack, ...withDefaults }),
  z.object({ channel: z.literal("webhook"), config: channelConfig.webhook, ...withDefaults }),
]);

/** interface.md "PATCH /alert-configs/:id": any subset. Which config is right depends on the channel as it is. */
export const alertConfigPatch = z
  .object({ channel: channelKind, config: z.record(z.string(), z.unknown()), ...notificationFlags })
  .partial();

/** interface.md "Config in responses": secrets and urls are write-only. */
export const alertConfig = z.object({
  id: z.int(),
  organizationId: z.int(),
  channel: channelKind,
  isEnabled: z.boolean(),
  config: z.union([
    z.object({ urlPreview: z.string(), hasSecret: z.boolean() }),
    z.object({ hasWebhookUrl: z.boolean() }),
    z.object({ recipients: z.array(z.string()) }),
  ]),
  notifyOnNewBreach: z.boolean(),
  notifyOnScanComplete: z.boolean(),
  notifyOnScanError: z.boolean(),
});
export type AlertConfig = z.infer<typeof alertConfig>;

export const eventType = z.enum(["breach", "scan_complete", "scan_error"]);
export type EventType = z.infer<typeof eventType>;
