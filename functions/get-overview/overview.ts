/** The state of an organization at a glance. Nothing here goes through findings or e-mails one by one. */

import * as organizations from "../../shared/access/organizations/organization.ts";
import { latestStatuses } from "../../shared/alerting/deliveries/delivery-list.ts";
import * as counts from "../../shared/lists/counts.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import * as breachDetails from "../../shared/monitoring/hibp/breach-details.ts";
import { severityAt } from "../../shared/monitoring/hibp/severity.ts";
import * as subscription from "../../shared/monitoring/hibp/subscription-state.ts";
import { countOpen } from "../../shared/monitoring/unwatched/record.ts";
import * as scanList from "../../shared/scanning/scan-list.ts";
import type { Overview } from "./endpoint.ts";

const monthsShown = 12;
const breachesShown = 5;

/** Three trips to the table, four where a channel's latest delivery is older than others of its block. */
export const read = async (org: number, now: Date): Promise<Overview> => {
  const [found, emailDirectory, lastScan, owner, upstream, shownChannels, unwatched] = await Promise.all([
    findingsOf(org, now),
    emails.directory(org),
    scanList.latest(org, now),
    organizations.existing(org),
    subscription.state(now),
    latestStatuses(org),
    countOpen(org),
  ]);
  const { notDelivered, breachedEmails } = found.counted;
  return {
    findings: found.shown,
    bySeverity: bySeverity(found.counted),
    emails: {
      active: emails.sum(emailDirectory, ({ isActive }) => isActive),
      disabled: emails.sum(emailDirectory, ({ isActive }) => !isActive),
      breached: breachedEmails,
    },
    lastScan,
    nextScanAt: organizations.nextScanAt(owner, now),
    channels: shownChannels.map(({ channel: { id, channel }, latest }) => ({
      id,
      channel,
      failing: latest === "retrying" || latest === "not_delivered",
      notDelivered: notDelivered.get(id) ?? 0,
    })),
    upstream,
    unwatched,
  };
};

const findingsOf = async (
  org: number,
  now: Date,
): Promise<{ counted: counts.Counts; shown: Overview["findings"] }> => {
  const [counted, catalogVersion] = await Promise.all([counts.read(org), breachDetails.version()]);
  const top = [...counted.byBreach]
    .map(([breachId, { open }]): [number, number] => [breachId, open])
    .filter(([, open]) => open > 0)
    .sort(([oneId, one], [otherId, other]) => other - one || oneId - otherId)
    .slice(0, breachesShown);
  const details = await breachDetails.details(
    top.map(([breachId]) => breachId),
    catalogVersion,
  );
  return {
    counted,
    shown: {
      ...counts.totalOf(counted),
      byMonth: lastMonths(now).map((month) => ({
        month,
        ...(counted.byMonth.get(month) ?? { open: 0, acknowledged: 0 }),
      })),
      topBreaches: top.map(([breachId, open]) => ({
        breachId,
        title: details.get(breachId)?.title ?? `Breach ${breachId}`,
        open,
      })),
    },
  };
};

const bySeverity = ({ byLevel }: counts.Counts): Overview["bySeverity"] => {
  const open = { critical: 0, high: 0, medium: 0, low: 0 };
  for (const ofBreach of byLevel.values())
    for (const [level, state] of ofBreach) open[severityAt(level)] += state.open;
  return open;
};

/** `YYYY-MM` in UTC, oldest first, up to the month of `now`. */
const lastMonths = (now: Date): string[] =>
  Array.from({ length: monthsShown }, (_, index) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - (monthsShown - 1 - index)))
      .toISOString()
      .slice(0, 7),
  );
