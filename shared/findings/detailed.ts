/** Findings in full: with whose address each is, and everything that is known of the breach. */
import { ownChecks } from "../monitoring/domains/own-checks.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import { adviceOf } from "../monitoring/hibp/advice.ts";
import type { Breach } from "../monitoring/hibp/breach.ts";
import * as breachDetails from "../monitoring/hibp/breach-details.ts";
import { severityAt } from "../monitoring/hibp/severity.ts";
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
  const [context, { rows, total, unacknowledged }] = await Promise.all([contextOf(org), page(org, query)]);
  const all = await inFull(org, rows, context);
  return { breaches: all.map(({ finding }) => finding), total, unacknowledged };
};

/** These findings, in this order, without those that are not there any more and those of removed e-mails. */
export const getMany = async (org: number, ids: readonly number[]): Promise<DetailedFinding[]> => {
  const [context, rows] = await Promise.all([contextOf(org), findings.getMany(org, ids)]);
  const there = rows.filter((row) => row !== undefined);
  const all = await inFull(org, there, context);
  return all.filter(({ owner }) => owner !== undefined).map(({ finding }) => finding);
};

/** What describing any findings of an organization needs. */
const contextOf = async (org: number) => {
  const [noted, allTeams, catalogVersion] = await Promise.all([
    ownChecks(org),
    teams.list(org),
    breachDetails.version(),
  ]);
  return { noted, allTeams, catalogVersion };
};

/** `owner`: the e-mail; the removal of an e-mail deletes its row first, and its findings after it. */
const inFull = async (
  org: number,
  rows: readonly Shown[],
  { noted, allTeams, catalogVersion }: Awaited<ReturnType<typeof contextOf>>,
): Promise<{ finding: DetailedFinding; owner: Email | undefined }[]> => {
  const owners = emailsById(
    org,
    rows.map(({ emailId }) => emailId),
  );
  const shown = await described(org, rows, noted, catalogVersion, () => owners);
  const teamsById = new Map(allTeams.map(({ id, name }) => [id, { id, name }]));
  const ownersById = await owners;
  return shown.map(({ finding, row, breach }) => {
    const owner = ownersById.get(finding.emailId);
    const teamId = owner && emails.groupOf(owner).teamId;
    const { severity } = findings.groupOf(row);
    const inFull = {
      ...finding,
      breach: detailed(breach),
      severity: severityAt(severity),
      ownerName: owner?.ownerName ?? null,
      team: (teamId != null && teamsById.get(teamId)) || null,
    };
    return { finding: inFull, owner };
  });
};

/** A breach as clients see it in full. */
export const detailed = (breach: Breach): DetailedBreach => {
  const { isSubscriptionFree: _, logoPath: __, ...shown } = breach;
  return { ...shown, advice: adviceOf(breach) };
};
