/** The state of an organization at a glance, from counts and lists' tallies. */

import * as organizations from "../../shared/access/organizations/organization.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { unknownDate } from "../../shared/contract/unknown-date.ts";
import * as counts from "../../shared/counts/counts.ts";
import * as news from "../../shared/counts/news.ts";
import * as breachTriage from "../../shared/findings/breach-triage.ts";
import { levelIn } from "../../shared/findings/breaches.ts";
import { endedLately } from "../../shared/findings/rules/rule-list.ts";
import * as breachDetails from "../../shared/hibp/breach-details.ts";
import { noticesFor } from "../../shared/hibp/plan-notices.ts";
import { severityAt } from "../../shared/hibp/severity.ts";
import * as subscription from "../../shared/hibp/subscription-state.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import * as unwatchedAddresses from "../../shared/monitoring/unwatched/store.ts";
import * as scanList from "../../shared/scanning/scan-list.ts";
import type { Overview } from "./endpoint.ts";

const monthsShown = 12;
const breachesShown = 5;
const newBreachesShown = 5;

/** Three trips to the table, and one more if a new breach has an assignee. */
export const read = async (org: number, now: Date): Promise<Overview> => {
  const [findings, emailTally, lastScan, owner, plan, shownChannels, allDomains, unwatched] =
    await Promise.all([
      findingsOf(org, now),
      emails.tally(org),
      scanList.latest(org, now),
      organizations.existing(org),
      subscription.state(now),
      channels.list(org),
      domains.list(org),
      unwatchedAddresses.roots(org),
    ]);
  const { notDelivered, breachedEmails } = findings.counted;
  const severeAt = unwatchedAddresses.severeAt(unwatched);
  return {
    findings: findings.shown,
    bySeverity: bySeverity(findings.counted),
    news: findings.news,
    history: counts.historyOf(findings.counted),
    endedByRules: findings.ended,
    emails: {
      active: emails.sum(emailTally, ({ isActive }) => isActive),
      disabled: emails.sum(emailTally, ({ isActive }) => !isActive),
      breached: breachedEmails,
    },
    domains: {
      verified: allDomains.filter(({ verified }) => verified).length,
      unverified: allDomains.filter(({ verified }) => !verified).length,
    },
    lastScan,
    nextScanAt: organizations.nextScanAt(owner, now),
    channels: shownChannels.map((row) => {
      const { id, channel, name = null, failingSince = null } = row;
      return {
        id,
        channel,
        name,
        failing: failingSince !== null,
        failingSince,
        notDelivered: notDelivered.get(id) ?? 0,
        waitsFor: channels.waitsForOf(row, now),
      };
    }),
    upstream: plan.upstream,
    notices: noticesFor(plan.notices, allDomains).map(({ text }) => text),
    unwatched: unwatched.reduce((sum, { open }) => sum + open, 0),
    severeUnwatchedAt: severeAt !== undefined && severeAt >= findings.news.since ? severeAt : null,
  };
};

const findingsOf = async (
  org: number,
  now: Date,
): Promise<{
  counted: counts.Counts;
  shown: Overview["findings"];
  news: Overview["news"];
  ended: Overview["endedByRules"];
}> => {
  const [counted, newsOfWeek, catalogVersion] = await Promise.all([
    counts.read(org),
    news.read(org, now),
    breachDetails.version(),
  ]);
  const top = mostOf(
    [...counted.byBreach].map(([breachId, { open }]) => [breachId, open]),
    breachesShown,
  );
  const open = [...newsOfWeek.byBreach].filter(([, ofBreach]) => ofBreach.open > 0);
  const details = await breachDetails.details(
    [...top, ...open].map(([breachId]) => breachId),
    catalogVersion,
  );
  const named = (breachId: number) => {
    const { title = `Breach ${breachId}`, breachDate = unknownDate } = details.get(breachId) ?? {};
    return { breachId, title, breachDate };
  };
  const { since, findings, open: openCount, people } = newsOfWeek;
  const newest = open
    .map(([breachId, ofBreach]) => ({ ...named(breachId), ...ofBreach, level: levelIn(counted, breachId) }))
    .sort(
      (one, other) =>
        other.level - one.level ||
        other.breachDate.localeCompare(one.breachDate) ||
        other.breachId - one.breachId,
    )
    .slice(0, newBreachesShown);
  const triage = await breachTriage.getMany(
    org,
    newest.map(({ breachId }) => breachId),
  );
  return {
    counted,
    ended: endedLately(newsOfWeek.ended),
    shown: {
      ...counts.totalOf(counted),
      byMonth: lastMonths(now).map((month) => ({
        month,
        ...(counted.byMonth.get(month) ?? { open: 0, acknowledged: 0 }),
      })),
      topBreaches: top.map(([breachId, open]) => ({ ...named(breachId), open })),
    },
    news: {
      since,
      findings,
      open: openCount,
      people,
      breaches: newest.map(({ level, ...ofBreach }) => ({
        ...ofBreach,
        severity: severityAt(level),
        assignee: triage.get(ofBreach.breachId)?.assignee ?? null,
      })),
    },
  };
};

/** The breaches with the highest counts above 0. */
const mostOf = (counted: [number, number][], most: number): [number, number][] =>
  counted
    .filter(([, count]) => count > 0)
    .sort(([oneId, one], [otherId, other]) => other - one || oneId - otherId)
    .slice(0, most);

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
