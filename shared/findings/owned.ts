/** The list of findings of the dashboard: with whose address each is, and with filters that the API's list does not have. */

import { breachIndex, breachPartition } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import * as counts from "../lists/counts.ts";
import { ownChecks } from "../monitoring/domains/own-checks.ts";
import { emails } from "../monitoring/emails/record.ts";
import * as breachDetails from "../monitoring/hibp/breach-details.ts";
import * as teams from "../monitoring/teams/team.ts";
import { described, emailsById, type Shown, shownAttributes } from "./finding.ts";
import type { OwnedFinding } from "./finding-schema.ts";
import { type FindingGroup, findings } from "./record.ts";

export type FindingQuery = {
  limit: number;
  offset: number;
  acknowledged?: boolean | undefined;
  breachId?: number | undefined;
  domainId?: number | undefined;
  emailId?: number | undefined;
  scanId?: number | undefined;
};

/** A page of findings, newest first. `total` counts those that match the filters, `unacknowledged` all. */
export const list = async (
  org: number,
  query: FindingQuery,
): Promise<{ findings: OwnedFinding[]; total: number; unacknowledged: number }> => {
  const [noted, allTeams, catalogVersion, page] = await Promise.all([
    ownChecks(org),
    teams.list(org),
    breachDetails.version(),
    pageOf(org, query),
  ]);
  const { rows, total, unacknowledged } = page;
  const owners = emailsById(
    org,
    rows.map(({ emailId }) => emailId),
  );
  const shown = await described(org, rows, noted, catalogVersion, () => owners);
  const teamsById = new Map(allTeams.map(({ id, name }) => [id, { id, name }]));
  const ownersById = await owners;
  return {
    findings: shown.map((finding) => {
      // The removal of an e-mail deletes its row first, and its findings after it.
      const owner = ownersById.get(finding.emailId);
      const teamId = owner && emails.groupOf(owner).teamId;
      return {
        ...finding,
        ownerName: owner?.ownerName ?? null,
        team: (teamId != null && teamsById.get(teamId)) || null,
      };
    }),
    total,
    unacknowledged,
  };
};

type Page = { rows: Shown[]; total: number; unacknowledged: number };

const isOpen = ({ acknowledged }: FindingGroup): boolean => !acknowledged;

const pageOf = async (org: number, query: FindingQuery): Promise<Page> => {
  const { limit, offset, acknowledged, breachId, domainId, emailId, scanId } = query;
  const isFiltered = acknowledged !== undefined || domainId !== undefined || scanId !== undefined;
  const matches = (group: FindingGroup): boolean =>
    (acknowledged === undefined || group.acknowledged === acknowledged) &&
    (domainId === undefined || group.domainId === domainId) &&
    (scanId === undefined || group.scanId === scanId);
  if (emailId === undefined && breachId === undefined) {
    const { items, total, directory } = await findings.page(org, {
      limit,
      offset,
      attributes: shownAttributes,
      ...(isFiltered && { matches }),
    });
    return { rows: items, total, unacknowledged: findings.sum(directory, isOpen) };
  }
  const [{ ids, total }, directory] = await Promise.all([
    emailId === undefined
      ? idsOfBreach(org, breachId as number, query, matches)
      : idsOfEmail(org, emailId, query, isFiltered ? matches : undefined),
    findings.directory(org),
  ]);
  const rows = await findings.getMany(org, ids);
  return {
    // What was deleted or acknowledged since its id was read does not belong on the page any more.
    rows: rows.filter((row) => row !== undefined).filter((row) => matches(findings.groupOf(row))),
    total,
    unacknowledged: findings.sum(directory, isOpen),
  };
};

/** The ids of a page, newest first, and how many there are in all. */
type PageOfIds = { ids: number[]; total: number };

/**
 * From the index by breach, which is eventually consistent: a finding that was detected or acknowledged a moment ago can be missing. The
 * total is exact where the counts tell it, and the index is then read up to the page. 14 read units for a thousand findings.
 */
const idsOfBreach = async (
  org: number,
  breachId: number,
  { limit, offset, acknowledged, domainId, scanId }: FindingQuery,
  matches: (group: FindingGroup) => boolean,
): Promise<PageOfIds> => {
  const counted =
    domainId === undefined && scanId === undefined
      ? counts.read(org).then(({ byBreach }) => byBreach.get(breachId))
      : undefined;
  const pages = table.queryPages<{ id: number; group: string }>({
    index: breachIndex,
    pk: breachPartition(org, breachId),
    descending: true,
    limit: counted !== undefined && acknowledged === undefined ? offset + limit : undefined,
  });
  const ids: number[] = [];
  let found = 0;
  for await (const page of pages) {
    const matching = page.filter((entry) => matches(findings.groupOf(entry)));
    ids.push(...matching.slice(Math.max(0, offset - found), offset + limit - found).map(({ id }) => id));
    found += matching.length;
    if (counted !== undefined && found >= offset + limit) break;
  }
  if (counted === undefined) return { ids, total: found };
  const { open, acknowledged: closed } = (await counted) ?? { open: 0, acknowledged: 0 };
  return { ids, total: (acknowledged === true ? 0 : open) + (acknowledged === false ? 0 : closed) };
};

/** The e-mail's row names its findings; with `matches` each of them is read. */
const idsOfEmail = async (
  org: number,
  emailId: number,
  { limit, offset, breachId }: FindingQuery,
  matches: ((group: FindingGroup) => boolean) | undefined,
): Promise<PageOfIds> => {
  const email = await emails.get(org, emailId);
  let ids = Object.entries(email?.findings ?? {})
    .filter(([breach]) => breachId === undefined || Number(breach) === breachId)
    .map(([, id]) => id)
    .sort((one, other) => other - one);
  if (matches !== undefined) {
    const rows = await findings.getMany(org, ids);
    ids = rows
      .filter((row) => row !== undefined && matches(findings.groupOf(row)))
      .map((row) => row?.id ?? 0);
  }
  return { ids: ids.slice(offset, offset + limit), total: ids.length };
};
