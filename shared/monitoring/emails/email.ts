import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { seats } from "../../access/billing/billing.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { absent, condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { reserveOne } from "../../lists/blocks.ts";
import * as counts from "../../lists/counts.ts";
import * as domains from "../domains/domain.ts";
import { noteEmail } from "../domains/own-checks.ts";
import * as teams from "../teams/team.ts";
import { domainOf, type MonitoredEmail } from "./email-schema.ts";
import { type EmailGroup, emails, isBreached, newEmailRow } from "./record.ts";
import { lastScannedAt } from "./watermark.ts";

export type NewEmail = {
  email: string;
  domainId: number;
  teamId?: number | undefined;
  ownerName?: string | undefined;
};

/** Counts the request against the organization's hourly limit; refuses `organizationLimit` beyond it. */
type Count = () => Promise<void>;
const uncounted: Count = async () => {};

/**
 * Starts monitoring an address and returns the id of the e-mail. Refuses `invalidInput` before it counts the
 * request, and after that `domainNotFound`, `teamNotFound`, `domainNotVerified`, `emailAlreadyMonitored`,
 * `seatAllowanceReached`.
 */
export const add = (org: number, input: NewEmail, actor: Actor, count: Count = uncounted): Promise<number> =>
  withOptimisticRetry(async () => {
    const { email, domainId, teamId = null, ownerName = null } = input;
    const [owner, domain, team, monitored] = await Promise.all([
      organizations.existing(org),
      domains.get(org, domainId),
      teamId === null ? undefined : teams.get(org, teamId),
      table.get(keys.address(org, email)),
    ]);
    if (domain !== undefined && domainOf(email) !== domain.name) {
      throw new Refusal("invalidInput", { error: "email: is not an address of the named domain" });
    }
    await count();
    if (domain === undefined) throw new Refusal("domainNotFound");
    if (teamId !== null && team === undefined) throw new Refusal("teamNotFound");
    if (!domain.verified) throw new Refusal("domainNotVerified");
    if (monitored !== undefined) throw new Refusal("emailAlreadyMonitored");

    const [reserved, slot] = await Promise.all([reserveOne(org, "EMAIL"), activity.slot(org)]);
    const row = newEmailRow({ email, ownerName }, domain);
    await table.transact([
      {
        put: { ...keys.address(org, email), emailId: reserved.id },
        if: absent,
        refusal: "emailAlreadyMonitored",
      },
      { ...seats(org, 1, owner.billing), refusal: "seatAllowanceReached" },
      domains.unchanged(org, domain),
      ...(teamId === null ? [] : [teams.mustExist(org, teamId)]),
      ...emails.writes(org, [emails.put(org, reserved, { domainId, teamId, isActive: true }, row)]),
      ...activity.writes(org, slot, { action: "email.added", summary: `Added ${email}`, actor }),
    ]);
    return reserved.id;
  });

/**
 * Enables or disables an e-mail. A call that changes nothing succeeds and is not logged. Counts the request,
 * then refuses `emailNotFound`, `domainNotVerified`, `seatAllowanceReached`.
 */
export const setActive = (
  org: number,
  id: number,
  isActive: boolean,
  actor: Actor,
  count: Count = uncounted,
): Promise<void> =>
  withOptimisticRetry(async () => {
    const [owner, row] = await Promise.all([organizations.existing(org), emails.get(org, id), count()]);
    if (row === undefined) throw new Refusal("emailNotFound");
    const from = emails.groupOf(row);
    const domain = await domains.existing(org, from.domainId);
    if (isActive && !domain.verified) throw new Refusal("domainNotVerified");
    if (from.isActive === isActive) return;

    const slot = await activity.slot(org);
    await table.transact([
      { ...seats(org, isActive ? 1 : -1, owner.billing), refusal: "seatAllowanceReached" },
      domains.unchanged(org, domain),
      ...emails.writes(org, [
        emails.change(org, id, {
          from,
          to: { ...from, isActive },
          // Enabled: scans in progress leave it out. Disabled: its domain's later checks do not count for it.
          set: isActive ? { afterScan: domain.plannedByScan } : { lastScannedAt: lastScannedAt(row, domain) },
          if: condition(
            "#afterScan = :afterScan AND #lastScannedAt = :lastScannedAt AND #findings = :findings",
            { afterScan: row.afterScan, lastScannedAt: row.lastScannedAt, findings: row.findings },
          ),
        }),
      ]),
      ...(isActive ? [] : [noteEmail(org, id)]),
      ...counts.writes(org, { breachedEmails: isBreached(row) ? (isActive ? 1 : -1) : 0 }),
      ...activity.writes(org, slot, {
        action: isActive ? "email.enabled" : "email.disabled",
        summary: `${isActive ? "Enabled" : "Disabled"} ${row.email}`,
        actor,
      }),
    ]);
  });

/**
 * Gives an e-mail to a team and an owner; what is left out stays, null takes away. A call that changes nothing succeeds and is not
 * logged. Refuses `emailNotFound`, `teamNotFound`.
 */
export const assign = (
  org: number,
  id: number,
  { teamId, ownerName }: { teamId?: number | null | undefined; ownerName?: string | null | undefined },
  actor: Actor,
): Promise<void> =>
  withOptimisticRetry(async () => {
    const [row, team] = await Promise.all([
      emails.get(org, id),
      teamId == null ? undefined : teams.get(org, teamId),
    ]);
    if (row === undefined) throw new Refusal("emailNotFound");
    if (teamId != null && team === undefined) throw new Refusal("teamNotFound");
    const from = emails.groupOf(row);
    const to = { ...from, ...(teamId !== undefined && { teamId }) };
    const isSameOwner = ownerName === undefined || ownerName === row.ownerName;
    if (to.teamId === from.teamId && isSameOwner) return;
    const slot = await activity.slot(org);
    await table.transact([
      ...(teamId == null ? [] : [teams.mustExist(org, teamId)]),
      ...emails.writes(org, [
        emails.change(org, id, { from, to, ...(!isSameOwner && { set: { ownerName } }) }),
      ]),
      ...activity.writes(org, slot, {
        action: "email.updated",
        summary: `Changed the team or owner of ${row.email}`,
        actor,
      }),
    ]);
  });

/** The domains and teams that the groups refer to, in one request. */
const referencesOf = async (org: number, groups: readonly EmailGroup[]) => {
  const domainIds = [...new Set(groups.map((group) => group.domainId))];
  const teamIds = [...new Set(groups.map((group) => group.teamId))].filter((id) => id !== null);
  const rows = await table.getMany<{ id: number }>([
    ...domainIds.map((id) => keys.domain(org, id)),
    ...teamIds.map((id) => keys.team(org, id)),
  ]);
  const byId = <T>(some: typeof rows) =>
    new Map(some.filter((row) => row !== undefined).map((row) => [row.id, row as T]));
  return {
    domains: byId<domains.Domain>(rows.slice(0, domainIds.length)),
    teams: byId<teams.Team>(rows.slice(domainIds.length)),
  };
};

/** A page of monitored e-mails, newest first; `total` counts all e-mails that match the filters. */
export const list = async (
  org: number,
  query: {
    limit: number;
    offset: number;
    domainId?: number | undefined;
    teamId?: number | undefined;
    isActive?: boolean | undefined;
  },
): Promise<{ emails: MonitoredEmail[]; total: number }> => {
  const { domainId, teamId, isActive, limit, offset } = query;
  const filtered = domainId !== undefined || teamId !== undefined || isActive !== undefined;
  const { items, total, joined } = await emails.page(org, {
    limit,
    offset,
    attributes: [
      "createdAt",
      "email",
      "ownerName",
      "afterScan",
      "lastScannedAt",
      "findings",
      "unacknowledged",
    ],
    join: (groups) => referencesOf(org, groups),
    ...(filtered && {
      matches: (group) =>
        (domainId === undefined || group.domainId === domainId) &&
        (teamId === undefined || group.teamId === teamId) &&
        (isActive === undefined || group.isActive === isActive),
    }),
  });
  const groups = items.map(emails.groupOf);
  const isJoined = (group: EmailGroup): boolean =>
    joined.domains.has(group.domainId) && (group.teamId === null || joined.teams.has(group.teamId));
  // An e-mail that was added between the two reads of the page can be the first of its domain or team.
  const references = groups.every(isJoined) ? joined : await referencesOf(org, groups);
  return {
    total,
    emails: items.map((row) => {
      const group = emails.groupOf(row);
      const domain = references.domains.get(group.domainId);
      if (domain === undefined) throw new Error(`E-mail ${row.id} refers to a domain that does not exist`);
      const team = group.teamId === null ? undefined : references.teams.get(group.teamId);
      return {
        id: row.id,
        email: row.email,
        ownerName: row.ownerName,
        isActive: group.isActive,
        lastScannedAt: lastScannedAt(row, domain),
        createdAt: row.createdAt,
        domain: { id: domain.id, name: domain.name },
        team: team === undefined ? null : { id: team.id, name: team.name },
        breachCount: Object.keys(row.findings).length,
        unacknowledgedBreachCount: row.unacknowledged,
      };
    }),
  };
};
