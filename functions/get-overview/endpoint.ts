import * as z from "zod/mini";
import { alertOptions, detailedAlertConfig } from "../../shared/alerting/channels/channel-schema.ts";
import { listedDelivery } from "../../shared/alerting/deliveries/delivery-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { count, idField } from "../../shared/contract/page.ts";
import { timestamp } from "../../shared/contract/text.ts";
import { triage } from "../../shared/findings/breach-schema.ts";
import { detailedBreach } from "../../shared/findings/finding-schema.ts";
import { severity } from "../../shared/hibp/severity-schema.ts";
import { scan } from "../../shared/scanning/scan-schema.ts";

/** Of two breaches with one title the date tells which is which. */
const named = { breachId: idField, title: z.string(), breachDate: detailedBreach.shape.breachDate };

const overview = z.object({
  findings: z.object({
    open: count,
    acknowledged: count,
    byMonth: z
      .array(
        z.object({
          month: z.string().check(z.meta({ description: "YYYY-MM", examples: ["2026-11"] })),
          open: count,
          acknowledged: count,
        }),
      )
      .check(z.meta({ description: "The last 12 months (UTC) by `firstDetectedAt`, oldest first" })),
    topBreaches: z
      .array(z.object({ ...named, open: count }))
      .check(z.meta({ description: "The 5 breaches with the most open findings" })),
  }),
  bySeverity: z
    .object({ critical: count, high: count, medium: count, low: count })
    .check(z.meta({ description: "Open findings by the severity of their breach" })),
  news: z
    .object({
      since: timestamp,
      findings: count,
      open: count,
      people: count.check(
        z.meta({
          description: "E-mails with one of these findings; one that was found twice may count twice",
        }),
      ),
      breaches: z
        .array(
          z.object({
            ...named,
            severity,
            findings: count,
            open: count,
            told: count.check(z.meta({ description: "With a message to their owner" })),
            assignee: triage.assignee,
          }),
        )
        .check(
          z.meta({
            description:
              "At most 5 of their breaches, those in which one of these findings is open: the worst first, " +
              "of equal severity the newest breach",
          }),
        ),
    })
    .check(
      z.meta({
        description:
          "Findings that were first detected since the beginning of the day 7 days ago (UTC), " +
          "acknowledged or not, without history",
      }),
    ),
  history: z
    .object({ findings: count, open: count, breaches: count })
    .check(z.meta({ description: "Findings that the first check of their e-mail brought" })),
  endedByRules: z.object({ left: count, password_changed: count, harmless: count, answered: count }).check(
    z.meta({
      description:
        "Findings that each rule has ended since `news.since`, without those that people have touched since",
    }),
  ),
  emails: z.object({
    active: count,
    disabled: count,
    breached: count.check(z.meta({ description: "Active e-mails with a finding" })),
  }),
  domains: z.object({ verified: count, unverified: count }),
  lastScan: z.nullable(
    z.object({
      ...scan.shape,
      coverage: z.object({
        checked: count,
        failed: count,
        stale: count.check(z.meta({ description: "Not reached: they keep an earlier result" })),
        skipped: count.check(z.meta({ description: "On domains that are not verified" })),
      }),
    }),
  ),
  nextScanAt: z.nullable(timestamp),
  channels: z.array(
    z.object({
      id: idField,
      channel: detailedAlertConfig.shape.channel,
      name: alertOptions.shape.name,
      failing: detailedAlertConfig.shape.failing,
      failingSince: detailedAlertConfig.shape.failingSince,
      notDelivered: detailedAlertConfig.shape.notDelivered,
      waitsFor: listedDelivery.shape.waitsFor.check(
        z.meta({
          description: "What a message of the channel waits for, and until when; null if none waits",
        }),
      ),
    }),
  ),
  upstream: z
    .object({ plan: z.nullable(z.string()), subscribedUntil: z.nullable(timestamp), isWorking: z.boolean() })
    .check(z.meta({ description: "The subscription of Have I Been Pwned" })),
  notices: z.array(z.string()).check(
    z.meta({
      description:
        "What the subscription is about to lack, or lacks for the organization's domains: sentences for people",
    }),
  ),
  unwatched: count.check(
    z.meta({ description: "Breached addresses of the domains that nobody watches, without ignored ones" }),
  ),
  severeUnwatchedAt: z.nullable(timestamp).check(
    z.meta({
      description:
        "When a breach of high severity or above last was news of one of them; null if that was before `news.since`",
    }),
  ),
});
export type Overview = z.infer<typeof overview>;

export const getOverview = defineEndpoint({
  summary: "Show the state of the organization at a glance",
  description: "Its cost does not grow with the number of findings.",
  access: "user",
  reply: overview,
  uses: ["table:read"],
});
