import * as activity from "../activity/activity.ts";
import { Refusal, type RefusalName } from "../api/errors.ts";
import { seats } from "../billing/billing.ts";
import { deletions } from "../findings/record.ts";
import type { Actor } from "../organizations/actor.ts";
import * as domains from "../organizations/domain.ts";
import * as organizations from "../organizations/organization.ts";
import * as teams from "../organizations/team.ts";
import { retrying } from "../table/attempts.ts";
import { reserveOne } from "../table/blocks.ts";
import { absent, condition, type Write } from "../table/condition.ts";
import { dueShard, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { noteEmail } from "./own-check.ts";
import { type EmailFacet, emails, newEmailRow } from "./record.ts";
import { domainOf, type MonitoredEmail } from "./schema.ts";
import { lastScannedAt } from "./watermark.ts";

export type NewEmail = {
  email: string;
  domainId: number;
  teamId?: number | undefined;
  ownerName?: string | undefined;
};

/** Counts the request against the organization's limit, once its input is known to be valid; refuses beyond it. */
type Count = () => Promise<void>;
const uncounted: Count = async () => {};

/**
 * Starts monitoring an address and gives its id. Refuses `invalidInput` when the address is not of the named domain, then,
 * counted, `domainNotFound`, `teamNotFound`, `domainNotVerified`, `emailAlreadyMonitored`, `seatAllowanceReached`.
 */
export const add = (org: number, input: NewEmail, actor: Actor, count: Count = uncounted): Promise<number> =>
  retrying(async () => {
    const { email, domainId, teamId = null, ownerName = null } = input;
    const [owner, domain, team, reserved, slot] = await Promise.all([
      organizations.existing(org),
      domains.get(org, domainId),
      teamId === null ? undefined : teams.get(org, teamId),
      reserveOne(org, "EMAIL"),
      activity.slot(org),
    ]);
    if (domain !== undefined && domainOf(email) !== domain.name) {
      throw new Refusal("invalidInput", { error: "email: is not an address of the named domain" });
    }
    await count();
    if (domain === undefined) throw new Refusal("domainNotFound");
    if (teamId !== null && team === undefined) throw new Refusal("teamNotFound");
    if (!domain.verified) throw new Refusal("domainNotVerified");

    const row = newEmailRow({ email, ownerName }, domain);
    await transactOr(
      ["emailAlreadyMonitored", "seatAllowanceReached"],
      [
        { put: { ...keys.address(org, email), emailId: reserved.id }, if: absent },
        seats(org, 1, owner.billing),
        domains.unchanged(org, domain, { mustBeVerified: true }),
        ...emails.writes(org, [emails.put(org, reserved, { domainId, teamId, isActive: true }, row)]),
        ...activity.writes(org, slot, { action: "email.added", summary: `Added ${email}`, actor }),
      ],
    );
    return reserved.id;
  });

/**
 * Enables or disables an e-mail; what it already is succeeds and is not logged. Refuses, counted, `emailNotFound`,
 * `domainNotVerified`, `seatAllowanceReached`.
 */
export const setActive = (
  org: number,
  id: number,
  isActive: boolean,
  actor: Actor,
  count: Count = uncounted,
): Promise<void> =>
  retrying(async () => {
    const [owner, row, slot] = await Promise.all([
      organizations.existing(org),
      emails.get(org, id),
      activity.slot(org),
      count(),
    ]);
    if (row === undefined) throw new Refusal("emailNotFound");
    const from = emails.facetOf(row);
    const domain = await domains.existing(org, from.domainId);
    if (isActive && !domain.verified) throw new Refusal("domainNotVerified");
    if (from.isActive === isActive) return;

    await transactOr(isActive ? ["seatAllowanceReached"] : [], [
      seats(org, isActive ? 1 : -1, owner.billing),
      domains.unchanged(org, domain, { mustBeVerified: isActive }),
      ...emails.writes(org, [
        emails.change(org, id, {
          from,
          to: { ...from, isActive },
          // What it is disabled with stays; a scan that has begun does not include what is enabled after that.
          set: isActive ? { since: domain.planBy } : { lastScannedAt: lastScannedAt(row, domain) },
          if: condition("#since = :since AND #lastScannedAt = :lastScannedAt", {
            since: row.since,
            lastScannedAt: row.lastScannedAt,
          }),
        }),
      ]),
      ...(isActive ? [] : [noteEmail(org, id)]),
      ...activity.writes(org, slot, {
        action: isActive ? "email.enabled" : "email.disabled",
        summary: `${isActive ? "Enabled" : "Disabled"} ${row.email}`,
        actor,
      }),
    ]);
  });

/** Findings that one transaction deletes: each may need its own directory row, and the e-mail's own writes some more. */
const findingsPerTransaction = 45;

/** After this time a sweep goes on with a removal that was cut off. */
const removalLeaseMilliseconds = 60_000;

/**
 * Removes an e-mail and deletes its findings. Most go in one transaction; of one with many findings the rest goes in
 * further ones, and until the last is gone a row says so, which a sweep finds. Refuses `emailNotFound`.
 */
export const remove = async (org: number, id: number, actor: Actor): Promise<void> => {
  const rest = await retrying(async () => {
    const [owner, row, slot] = await Promise.all([
      organizations.existing(org),
      emails.get(org, id),
      activity.slot(org),
    ]);
    if (row === undefined) throw new Refusal("emailNotFound");
    const from = emails.facetOf(row);
    const [now, later] = split(Object.values(row.findings));
    const asRead = condition("#findings = :findings", { findings: row.findings });
    await table.transact([
      ...emails.writes(org, [emails.delete(org, id, from, asRead)]),
      { delete: keys.address(org, row.email) },
      ...(from.isActive ? [seats(org, -1, owner.billing)] : []),
      ...(await deletions(org, now)),
      ...(later.length > 0 ? [removalOf(org, id, later)] : []),
      ...activity.writes(org, slot, { action: "email.removed", summary: `Removed ${row.email}`, actor }),
    ]);
    return later;
  });
  await removeFindings(org, id, rest);
};

/** Goes on with a removal that was cut off. */
export const resumeRemoval = async (org: number, id: number): Promise<void> => {
  const removal = await table.get<{ findings: number[] }>(keys.removal(org, id));
  if (removal !== undefined) await removeFindings(org, id, removal.findings);
};

const removeFindings = async (org: number, id: number, ids: readonly number[]): Promise<void> => {
  const [now, later] = split(ids);
  if (now.length === 0) return;
  await retrying(async () =>
    table.transact([
      ...(await deletions(org, now)),
      later.length > 0 ? removalOf(org, id, later) : { delete: keys.removal(org, id) },
    ]),
  );
  await removeFindings(org, id, later);
};

const split = (ids: readonly number[]): [now: readonly number[], later: readonly number[]] => [
  ids.slice(0, findingsPerTransaction),
  ids.slice(findingsPerTransaction),
];

const removalOf = (org: number, id: number, findings: readonly number[]): Write => ({
  put: {
    ...keys.removal(org, id),
    findings,
    dueShard: dueShard("REMOVAL", id),
    dueAt: new Date(Date.now() + removalLeaseMilliseconds).toISOString(),
  },
});

/** Runs a transaction whose first writes' conditions have a meaning for the client: refusal by position. */
const transactOr = async (refusals: readonly RefusalName[], writes: Write[]): Promise<void> => {
  try {
    await table.transact(writes);
  } catch (error) {
    if (error instanceof table.TransactionRefused) {
      const refusal = refusals.find((_, index) => error.refused(index));
      if (refusal !== undefined) throw new Refusal(refusal);
    }
    throw error;
  }
};

/** The domains and teams that facets name, in one request. */
const belongingTo = async (org: number, facets: readonly EmailFacet[]) => {
  const domainIds = [...new Set(facets.map((facet) => facet.domainId))];
  const teamIds = [...new Set(facets.map((facet) => facet.teamId))].filter((id) => id !== null);
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

/** A page of monitored e-mails, newest first, and how many there are in all. */
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
    attributes: ["createdAt", "email", "ownerName", "since", "lastScannedAt", "findings", "unacknowledged"],
    join: (facets) => belongingTo(org, facets),
    ...(filtered && {
      matches: (facet) =>
        (domainId === undefined || facet.domainId === domainId) &&
        (teamId === undefined || facet.teamId === teamId) &&
        (isActive === undefined || facet.isActive === isActive),
    }),
  });
  const facets = items.map(emails.facetOf);
  const isJoined = (facet: EmailFacet): boolean =>
    joined.domains.has(facet.domainId) && (facet.teamId === null || joined.teams.has(facet.teamId));
  // An e-mail that was added while the page was being read can be the first of its domain or team.
  const belonging = facets.every(isJoined) ? joined : await belongingTo(org, facets);
  return {
    total,
    emails: items.map((row) => {
      const facet = emails.facetOf(row);
      const domain = belonging.domains.get(facet.domainId);
      if (domain === undefined) throw new Error(`E-mail ${row.id} names a domain that is not there`);
      const team = facet.teamId === null ? undefined : belonging.teams.get(facet.teamId);
      return {
        id: row.id,
        email: row.email,
        ownerName: row.ownerName,
        isActive: facet.isActive,
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
