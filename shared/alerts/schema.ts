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

export const notificationFlags = {
  isEnabled: z.boolean(),
  notifyOnNewBreach: z.boolean(),
  notifyOnScanComplete: z.boolean(),
  notifyOnScanError: z.boolean(),
};

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
