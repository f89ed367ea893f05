import * as z from "zod/mini";
import { count, idField } from "../../contract/page.ts";
import { nameOf, text, timestamp } from "../../contract/text.ts";
import { severities } from "../../hibp/severity-schema.ts";
import { writtenAddress } from "../../monitoring/emails/email-schema.ts";

/** In characters. */
const maximumUrlLength = 2048;
const maximumSecretLength = 1024;

const channelKind = z.enum(["email", "slack", "webhook"]);
export type ChannelKind = z.infer<typeof channelKind>;

/**
 * Behind `whsec_` the base64 (RFC 4648, with padding) of at least 16 bytes, which libraries of Standard Webhooks read.
 */
const signingSecret =
  /^(?!whsec_)|^whsec_(?:[A-Za-z0-9+/]{4}){5,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;

const secret = text(maximumSecretLength).check(
  z.refine((value) => signingSecret.test(value), "must be the base64 of at least 16 bytes behind whsec_"),
  z.meta({
    description:
      "Signs the deliveries; never returned. An empty string means no secret. A PATCH without " +
      "`secret` keeps the secret. Behind `whsec_` must be the base64 of at least 16 bytes",
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

const publicForm = /^[^.@]+(?:\.[^.@]+)*@.+\.(?:[a-zA-Z]{2,}|xn--[a-zA-Z0-9-]+)$/;

/**
 * Stricter than an address to monitor: no domain without a dot, no stray dots in front of the `@`. SES
 * refuses a message for all recipients when it cannot parse the address of one. Kept as written, since some
 * servers tell upper from lower case in front of the `@`.
 */
const recipient = writtenAddress.check(
  z.refine((address) => publicForm.test(address), "must be an e-mail address of a public domain"),
  z.meta({
    description:
      "Trimmed, and shown as written, but for an internationalized domain, which is kept in " +
      "ASCII; compared without case",
    examples: ["Security@demo.example"],
  }),
);

/** The `config` of each kind of channel, as clients write it and as it is stored. */
export const channelConfig = {
  email: z.object({ recipients: z.array(recipient).check(z.minLength(1), z.maxLength(20)) }),
  slack: z.object({ webhookUrl: publicUrl }),
  webhook: z.object({ url: publicUrl, secret: z.optional(secret) }),
} as const;

const notificationFlags = {
  isEnabled: z.boolean().check(
    z.meta({
      description:
        "A disabled channel gets no new deliveries. Its open deliveries wait, and continue if " +
        "the channel is enabled within 24 hours of their event",
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

/**
 * Body of POST /alert-configs. By default a channel is told of new breaches and of scans that had a problem.
 */
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

/**
 * Body of PATCH /alert-configs/:id: any subset of the fields. Whether `config` fits can only be checked with
 * the channel at hand (configure.ts).
 */
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
              "Merged field by field; a change of `channel` needs the full config of the new " +
              "kind. A webhook's `urlPreview` sent as `url` keeps the url",
            examples: [{ recipients: ["security@demo.example"] }],
          }),
        ),
      ...notificationFlags,
    }),
  )
  .check(z.meta({ id: "AlertConfigPatch" }));

/** A channel in replies. Secrets and urls can be written but not read. */
export const alertConfig = z
  .object({
    id: idField,
    organizationId: idField,
    channel: channelKind.check(z.meta({ examples: ["webhook"] })),
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

/** When a channel is told of new breaches: at the end of each scan, address by address, or gathered until 07:00 UTC. */
export const groupings = ["scan", "address", "day", "week"] as const;
export type Grouping = (typeof groupings)[number];

/**
 * Body of PUT /alert-configs/:id/options, whole, and the reply of GET. What fits which kind is checked in options.ts.
 */
export const alertOptions = z
  .object({
    name: z.nullable(nameOf(100)),
    minSeverity: z.enum(severities).check(z.meta({ description: "New breaches below it make no alert" })),
    grouping: z.enum(groupings).check(
      z.meta({
        description:
          "`scan`: at most two messages about new breaches from one scan; `address`: one for " +
          "each e-mail; `day`, `week`: gathered until 07:00 UTC, on Mondays. Webhooks: `address` " +
          "only",
      }),
    ),
    sensitive: z.enum(["discreet", "named"]).check(
      z.meta({
        description:
          "`discreet`: of a sensitive breach neither title nor address is told; a webhook gets no event of it",
      }),
    ),
    tellOwners: z.boolean().check(
      z.meta({
        description:
          "E-mail channels only: the breached address gets a message too, one for each event " +
          "however many channels have it",
      }),
    ),
  })
  .check(z.meta({ id: "AlertOptions" }));
export type AlertOptions = z.infer<typeof alertOptions>;

/** A channel with its options, and how its deliveries fare. */
export const detailedAlertConfig = z
  .object({
    ...alertConfig.shape,
    options: alertOptions,
    failing: z.boolean().check(
      z.meta({
        description: "Whether an attempt failed, and nothing has arrived since then",
        examples: [false],
      }),
    ),
    failingSince: z.nullable(timestamp).check(
      z.meta({
        description:
          "When the first of these attempts failed, or a delivery had waited for a day; null once one arrives",
        examples: [null],
      }),
    ),
    notDelivered: count,
    lastDeliveredAt: z
      .nullable(timestamp)
      .check(z.meta({ description: "Exact to the minute; null before the first" })),
  })
  .check(z.meta({ id: "DetailedAlertConfig" }));
export type DetailedAlertConfig = z.infer<typeof detailedAlertConfig>;
