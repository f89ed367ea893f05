/** Pages of monitored e-mails. */
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { severityAt } from "../../hibp/severity.ts";
import * as domains from "../domains/domain.ts";
import { lastScannedAt } from "../domains/own-checks.ts";
import * as teams from "../teams/team.ts";
import type { EmailOrder, ListedEmail } from "./email-schema.ts";
import {
  type Email,
  type EmailGroup,
  emails,
  openAttributes,
  openCount,
  type SubAddress,
  worstOpen,
} from "./record.ts";
import * as search from "./search.ts";

export type EmailQuery = {
  limit: number;
  offset: number;
  domainId?: number | undefined;
  teamId?: number | undefined;
  isActive?: boolean | undefined;
  /** Whether a finding is open. */
  breached?: boolean | undefined;
  /** Who watches it: a directory that names it, or people by hand. */
  source?: "directory" | "hand" | undefined;
  /** Whether its person has left. */
  left?: boolean | undefined;
  /** Default: newest first. */
  order?: EmailOrder | undefined;
};

/** A page; `total` counts all e-mails that match the filters. */
type Page = { emails: ListedEmail[]; total: number };
const nothing: Page = { emails: [], total: 0 };

const attributes = [
  "createdAt",
  "email",
  "ownerName",
  "afterScan",
  "lastScannedAt",
  "findings",
  "person",
  ...openAttributes,
] as const;

type Row = Pick<
  NonNullable<Awaited<ReturnType<typeof emails.get>>>,
  (typeof attributes)[number] | "id" | "group"
>;

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
type References = Awaited<ReturnType<typeof referencesOf>>;

const isFiltered = ({ domainId, teamId, isActive, breached, source, left }: EmailQuery): boolean =>
  [domainId, teamId, isActive, breached, source, left].some((value) => value !== undefined);

const matches =
  ({ domainId, teamId, isActive, breached, source, left }: EmailQuery) =>
  (group: EmailGroup): boolean =>
    (domainId === undefined || group.domainId === domainId) &&
    (teamId === undefined || group.teamId === teamId) &&
    (isActive === undefined || group.isActive === isActive) &&
    (breached === undefined || group.exposure > 0 === breached) &&
    (source === undefined || (group.directoryId !== null) === (source === "directory")) &&
    (left === undefined || group.hasLeft === left);

/** Worst first, for lists in this order. */
const rankOf = ({ exposure }: EmailGroup): number => exposure;

export const list = async (org: number, query: EmailQuery): Promise<Page> => {
  const { limit, offset, teamId, order } = query;
  const [{ items, total, joined }, team] = await Promise.all([
    emails.page(org, {
      limit,
      offset,
      attributes,
      join: (groups) => referencesOf(org, groups),
      ...(isFiltered(query) && { matches: matches(query) }),
      ...(order === "worst" && { rank: rankOf }),
    }),
    teamId === undefined ? undefined : teams.get(org, teamId),
  ]);
  if (teamId !== undefined && team === undefined) return nothing;
  return { emails: await shown(org, items, joined), total };
};

/**
 * The e-mails that a text finds (search.ts), in three trips: what it finds, the tally with single rows,
 * and the rows of the page. Total and filters are exact.
 */
export const find = async (org: number, text: string, query: EmailQuery): Promise<Page> => {
  const { limit, offset, teamId, order } = query;
  const { domainIds, emails: hits } = await search.find(org, text);
  const single = hits.filter(({ domainId }) => !domainIds.has(domainId));
  // Other pages are read only where their rows decide which are on this one.
  const isPage = domainIds.size === 0 && !isFiltered(query) && order !== "worst";
  const wanted = isPage ? single.slice(offset, offset + limit) : single;
  // Single rows can move the rows of whole domains by as many places.
  const first = Math.max(0, offset - single.length);
  const [rows, ofDomains, domainsById, allTeams] = await Promise.all([
    emails.getMany(
      org,
      wanted.map(({ id }) => id),
    ),
    domainIds.size === 0
      ? { items: [], total: 0 }
      : emails.page(org, {
          limit: offset + limit - first,
          offset: first,
          attributes,
          matches: (group) => domainIds.has(group.domainId) && matches(query)(group),
          ...(order === "worst" && { rank: rankOf }),
        }),
    domains.getMany(org, [...domainIds, ...wanted.map(({ domainId }) => domainId)]),
    teams.everyTeam(org),
  ]);
  if (teamId !== undefined && !allTeams.some((team) => team.id === teamId && !teams.isRemoved(team)))
    return nothing;
  const matching = rows.flatMap((row) =>
    row !== undefined && matches(query)(emails.groupOf(row)) ? row : [],
  );
  const known = { domains: domainsById, teams: new Map(allTeams.map((team) => [team.id, team])) };
  if (isPage) return { emails: await shown(org, matching, known), total: single.length };
  const rankIn = (row: Row): number => (order === "worst" ? rankOf(emails.groupOf(row)) : 0);
  const items = [...ofDomains.items, ...matching]
    .sort((one, other) => rankIn(other) - rankIn(one) || other.id - one.id)
    .slice(offset - first, offset - first + limit);
  return { emails: await shown(org, items, known), total: ofDomains.total + matching.length };
};

/**
 * One of them, with its sub-addresses. `join`: reads more that follows from the row, in the same trip as the
 * domain and the team. Refuses `emailNotFound`.
 */
export const get = async <Joined extends object>(
  org: number,
  id: number,
  join: (row: Email) => Promise<Joined> = async () => ({}) as Joined,
): Promise<ListedEmail & { subAddresses: SubAddress[] } & Joined> => {
  const row = await emails.get(org, id);
  if (row === undefined) throw new Refusal("emailNotFound");
  const [references, joined] = await Promise.all([referencesOf(org, [emails.groupOf(row)]), join(row)]);
  const [email] = await shown(org, [row], references);
  return { ...(email as ListedEmail), subAddresses: row.subAddresses ?? [], ...joined };
};

/** As clients see them. `known`: what was read for their groups. */
const shown = async (org: number, rows: readonly Row[], known: References): Promise<ListedEmail[]> => {
  const groups = rows.map(emails.groupOf);
  const isKnown = (group: EmailGroup): boolean =>
    known.domains.has(group.domainId) && (group.teamId === null || known.teams.has(group.teamId));
  // An e-mail added between the two reads of the page can be the first of its domain or team.
  const references = groups.every(isKnown) ? known : await referencesOf(org, groups);
  return rows.map((row) => {
    const group = emails.groupOf(row);
    const domain = references.domains.get(group.domainId);
    if (domain === undefined) throw new Error(`E-mail ${row.id} refers to a domain that does not exist`);
    const team = group.teamId === null ? undefined : references.teams.get(group.teamId);
    const worst = worstOpen(row);
    return {
      id: row.id,
      email: row.email,
      ownerName: row.ownerName,
      isActive: group.isActive,
      lastScannedAt: lastScannedAt(row, domain),
      createdAt: row.createdAt,
      domain: { id: domain.id, name: domain.name },
      team: team === undefined || teams.isRemoved(team) ? null : { id: team.id, name: team.name },
      breachCount: Object.keys(row.findings).length,
      unacknowledgedBreachCount: openCount(row),
      severity: worst === undefined ? null : severityAt(worst),
      isPrivileged: row.person?.isPrivileged === true,
      hasLeft: group.hasLeft,
    };
  });
};
