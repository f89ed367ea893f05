/** The list of findings of the dashboard: with whose address each is, and with filters that the API's list does not have. */

import { ownChecks } from "../monitoring/domains/own-checks.ts";
import { emails } from "../monitoring/emails/record.ts";
import * as catalog from "../monitoring/hibp/breach-details.ts";
import * as teams from "../monitoring/teams/team.ts";
import * as breachIndex from "./breach-index.ts";
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
    catalog.version(),
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
  const [ids, directory] = await Promise.all([
    emailId === undefined
      ? breachIndex.idsOf(org, breachId as number, matches)
      : idsOfEmail(org, emailId, breachId, isFiltered ? matches : undefined),
    findings.directory(org),
  ]);
  const rows = await findings.getMany(org, ids.slice(offset, offset + limit));
  return {
    // What was deleted or acknowledged since its id was read does not belong on the page any more.
    rows: rows.filter((row) => row !== undefined).filter((row) => matches(findings.groupOf(row))),
    total: ids.length,
    unacknowledged: findings.sum(directory, isOpen),
  };
};

/** Ids of an e-mail's findings, newest first. The e-mail's row names them; with `matches` each of them is read. */
const idsOfEmail = async (
  org: number,
  emailId: number,
  breachId: number | undefined,
  matches: ((group: FindingGroup) => boolean) | undefined,
): Promise<number[]> => {
  const email = await emails.get(org, emailId);
  if (email === undefined) return [];
  const ids = Object.entries(email.findings)
    .filter(([breach]) => breachId === undefined || Number(breach) === breachId)
    .map(([, id]) => id)
    .sort((one, other) => other - one);
  if (matches === undefined) return ids;
  const rows = await findings.getMany(org, ids);
  return rows.filter((row) => row !== undefined && matches(findings.groupOf(row))).map((row) => row?.id ?? 0);
};
