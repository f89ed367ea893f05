/** Findings in full: with whose address each is, and everything that is known of the breach. */
import { ownChecks } from "../monitoring/domains/own-checks.ts";
import { emails } from "../monitoring/emails/record.ts";
import { adviceOf } from "../monitoring/hibp/advice.ts";
import type { Breach } from "../monitoring/hibp/breach.ts";
import * as breachDetails from "../monitoring/hibp/breach-details.ts";
import { severityAt, worstFirst } from "../monitoring/hibp/severity.ts";
import * as teams from "../monitoring/teams/team.ts";
import { described, emailsById } from "./finding.ts";
import type { DetailedBreach, DetailedFinding } from "./finding-schema.ts";
import { type FindingQuery, page } from "./page.ts";
import { findings } from "./record.ts";

/** A page of findings, as `finding.list` gives it. */
export const list = async (
  org: number,
  query: FindingQuery,
): Promise<{ breaches: DetailedFinding[]; total: number; unacknowledged: number }> => {
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
    breaches: shown.map(({ finding, row, breach }) => {
      // The removal of an e-mail deletes its row first, and its findings after it.
      const owner = ownersById.get(finding.emailId);
      const teamId = owner && emails.groupOf(owner).teamId;
      const { severity } = findings.groupOf(row);
      return {
        ...finding,
        breach: detailed(breach),
        severity: severityAt(severity),
        ownerName: owner?.ownerName ?? null,
        team: (teamId != null && teamsById.get(teamId)) || null,
      };
    }),
    total,
    unacknowledged,
  };
};

/** A breach as clients see it in full. */
export const detailed = (breach: Breach): DetailedBreach => {
  const { isSubscriptionFree: _, logoPath: __, ...shown } = breach;
  return { ...shown, dataClasses: worstFirst(breach.dataClasses), advice: adviceOf(breach) };
};
