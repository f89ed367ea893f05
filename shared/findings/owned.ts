/** The list of findings of the dashboard: with whose address each is. */
import { ownChecks } from "../monitoring/domains/own-checks.ts";
import { emails } from "../monitoring/emails/record.ts";
import * as breachDetails from "../monitoring/hibp/breach-details.ts";
import * as teams from "../monitoring/teams/team.ts";
import { described, emailsById } from "./finding.ts";
import type { OwnedFinding } from "./finding-schema.ts";
import { type FindingQuery, page } from "./page.ts";

/** A page of findings, newest first. `total` counts those that match the filters, `unacknowledged` all. */
export const list = async (
  org: number,
  query: FindingQuery,
): Promise<{ findings: OwnedFinding[]; total: number; unacknowledged: number }> => {
  const [noted, allTeams, catalogVersion, found] = await Promise.all([
    ownChecks(org),
    teams.list(org),
    breachDetails.version(),
    page(org, query),
  ]);
  const { rows, total, unacknowledged } = found;
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
