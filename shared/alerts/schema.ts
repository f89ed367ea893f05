import * as z from "zod/mini";
import { idField } from "../api/page.ts";
import { text } from "../api/text.ts";
import { emailAddress } from "../emails/schema.ts";

/** Longest url and secret that a channel may have, in characters. */
const maximumUrlLength = 2048;
const maximumSecretLength = 1024;

const channelKind = z.enum(["email", "slack", "webhook"]);
export type ChannelKind = z.infer<typeof channelKind>;

const secret = text(maximumSecretLength).check(
  z.meta({
    description:
      "Signs the deliveries; never returned. Empty: none. In a PATCH, one that is left out stays as it is",
  }),
);

const publicUrl = z.string().check(
  z.minLength(1),
  z.maxLength(maximumUrlLength),
  z.meta({
    format: "uri",
    description: "Public HTTPS without credentials; never returned",
    examples: ["https://hooks.example.com/breaches"],
  }),
);

/** SES refuses a message for all recipients when it cannot read the address of one: no local names, no stray dots. */
const recipient = emailAddress.check(
  z.regex(
    /^[^.@]+(?:\.[^.@]+)*@.+\.(?:[a-zA-Z]{2,}|xn--[a-zA-Z0-9-]+)$/,
    "must be an e-mail address of a public domain",
  ),
);

/** interface.md "Config on write". */
export const channelConfig = {
  email: z.object({ recipients: z.array(recipient).check(z.minLength(1), z.maxLength(20)) }),
  slack: z.object({ webhookUrl: publicUrl }),
  webhook: z.object({ url: publicUrl, secret: z.optional(secret) }),
} as const;

const notificationFlags = {
  isEnabled: z.boolean().check(
    z.meta({
      description:
        "Without it nothing new is sent; what is open waits, and goes on if it is enabled within 24 hours of the event",
    }),
  ),
  notifyOnNewBreach: z.boolean(),
  notifyOnScanComplete: z.boolean(),
  notifyOnScanError: z.boolean(),
};

const withDefaults = {
  isEnabled: z._default(notificationFlags.isEnabled, true),
  notifyOnNewBreach: z._default(notificationFlags.notifyOnNewBreach, true),
  notifyOnScanComplete: z._default(notificationFlags.notifyOnScanComplete, false),
  notifyOnScanError: z._default(notificationFlags.notifyOnScanError, true),
};

/** interface.md "POST /alert-configs"; defaults: decisions.md "Alert channels". */
export const newAlertConfig = z
  .discriminatedUnion("channel", [
    z
      .object({ channel: z.literal("email"), config: channelConfig.email, ...withDefaults })
      .check(z.meta({ id: "NewEmailAlertConfig" })),
    z
      .object({ channel: z.literal("slack"), config: channelConfig.slack, ...withDefaults })
      .check(z.meta({ id: "NewSlackAlertConfig" })),
    z
      .object({ channel: z.literal("webhook"), config: channelConfig.webhook, ...withDefaults })
      .check(z.meta({ id: "NewWebhookAlertConfig" })),
  ])
  .check(z.meta({ id: "NewAlertConfig" }));

/** interface.md "PATCH /alert-configs/:id": any subset. Which config is right depends on the channel as it is. */
export const alertConfigPatch = z
  .partial(
    z.object({
      channel: channelKind,
      config: z
        .partial(
          z.object({
            ...channelConfig.email.shape,
            ...channelConfig.slack.shape,
            ...channelConfig.webhook.shape,
          }),
        )
        .check(
          z.meta({
            description:
              "Merged field by field; another `channel` needs its full config. A webhook's `urlPreview` sent back as `url` changes nothing",
          }),
        ),
      ...notificationFlags,
    }),
  )
  .check(z.meta({ id: "AlertConfigPatch" }));

/** interface.md "Config in responses": secrets and urls are write-only. */
export const alertConfig = z
  .object({
    id: idField,
    organizationId: idField,
    channel: channelKind,
    isEnabled: z.boolean(),
    config: z.union([
      z.object({
        urlPreview: z.string().check(z.meta({ examples: ["https://hooks.example.com/..."] })),
        hasSecret: z.boolean(),
      }),
      z.object({ hasWebhookUrl: z.boolean() }),
      z.object({ recipients: z.array(z.string()) }),
    ]),
    notifyOnNewBreach: z.boolean(),
    notifyOnScanComplete: z.boolean(),
    notifyOnScanError: z.boolean(),
  })
  .check(z.meta({ id: "AlertConfig" }));
export type AlertConfig = z.infer<typeof alertConfig>;

export type EventType = "breach" | "scan_complete" | "scan_error";
