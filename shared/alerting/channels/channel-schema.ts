import * as z from "zod/mini";
import { count, idField } from "../../contract/page.ts";
import { nameOf, timestamp } from "../../contract/text.ts";
import { severities } from "../../hibp/severity-schema.ts";
import { channelConfig, shownConfig } from "../kinds/configs-schema.ts";

const channelKind = z.keyof(z.object(channelConfig));

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

const newOf = <Name extends string, Config extends z.ZodMiniType>(channel: Name, config: Config) =>
  z.object({ channel: z.literal(channel), config, ...withDefaults });

/**
 * Body of POST /alert-configs. By default a channel is told of new breaches and of scans that had a problem.
 */
export const newAlertConfig = z
  .discriminatedUnion("channel", [
    newOf("email", channelConfig.email).check(z.meta({ id: "NewEmailAlertConfig" })),
    newOf("slack", channelConfig.slack).check(z.meta({ id: "NewSlackAlertConfig" })),
    newOf("webhook", channelConfig.webhook).check(z.meta({ id: "NewWebhookAlertConfig" })),
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
    config: z.union([shownConfig.webhook, shownConfig.slack, shownConfig.email]),
    notifyOnNewBreach: z.boolean(),
    notifyOnScanComplete: z.boolean(),
    notifyOnScanError: z.boolean(),
  })
  .check(z.meta({ id: "AlertConfig" }));
export type AlertConfig = z.infer<typeof alertConfig>;

/** When a channel is told of new breaches: at the end of each scan, address by address, or gathered until 07:00. */
const groupings = ["scan", "address", "day", "week"] as const;
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
          "each e-mail; `day`, `week`: gathered until 07:00 in the organization's time zone, on Mondays. " +
          "Webhooks: `address`, and with `details` also `scan`: an event for each breach of a scan",
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
    details: z._default(z.boolean(), false).check(
      z.meta({
        description:
          "Webhooks only: `breach` events carry severity, people and findings too (`data.details`)",
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
