/** Findings in full: with whose address each is, and everything that is known of the breach. */
import { Refusal } from "../contract/errors.ts";
import { ownChecks } from "../monitoring/domains/own-checks.ts";
import { emails } from "../monitoring/emails/record.ts";
import { adviceOf } from "../monitoring/hibp/advice.ts";
import type { Breach } from "../monitoring/hibp/breach.ts";
import * as breachDetails from "../monitoring/hibp/breach-details.ts";
import { severityAt, worstFirst } from "../monitoring/hibp/severity.ts";
import * as teams from "../monitoring/teams/team.ts";
import { described, emailsById } from "./finding.ts";
import type { DetailedBreach, DetailedFinding } from "./finding-schema.ts";
import { type FindingQuery, page, type Shown } from "./page.ts";
import { findings } from "./record.ts";

/** A page of findings, as `finding.list` gives it. */
export const list = async (
  org: number,
  query: FindingQuery,
): Promise<{ breaches: DetailedFinding[]; total: number; unacknowledged: number }> => {
  const [known, { rows, total, unacknowledged }] = await Promise.all([knownOf(org), page(org, query)]);
  return { breaches: await inFull(org, rows, known), total, unacknowledged };
};

/** Refuses `findingNotFound`. */
export const get = async (org: number, id: number): Promise<DetailedFinding> => {
  const [known, row] = await Promise.all([knownOf(org), findings.get(org, id)]);
  const [finding] = row === undefined ? [] : await inFull(org, [row], known);
  if (finding === undefined) throw new Refusal("findingNotFound");
  return finding;
};

/** What findings are described with, whichever they are. */
const knownOf = async (org: number) => {
  const [noted, allTeams, catalogVersion] = await Promise.all([
    ownChecks(org),
    teams.list(org),
    breachDetails.version(),
  ]);
  return { noted, teamsById: new Map(allTeams.map(({ id, name }) => [id, { id, name }])), catalogVersion };
};

const inFull = async (
  org: number,
  rows: readonly Shown[],
  { noted, teamsById, catalogVersion }: Awaited<ReturnType<typeof knownOf>>,
): Promise<DetailedFinding[]> => {
  const owners = emailsById(
    org,
    rows.map(({ emailId }) => emailId),
  );
  const shown = await described(org, rows, noted, catalogVersion, () => owners);
  const ownersById = await owners;
  return shown.map(({ finding, row, breach }) => {
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
  });
};

/** A breach as clients see it in full. */
export const detailed = (breach: Breach): DetailedBreach => {
  const { isSubscriptionFree: _, logoPath: __, ...shown } = breach;
  return { ...shown, dataClasses: worstFirst(breach.dataClasses), advice: adviceOf(breach) };
};
