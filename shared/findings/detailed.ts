/** Findings in full: with whose address each is, and everything that is known of the breach. */
import { Refusal } from "../contract/errors.ts";
import { adviceOf } from "../hibp/advice.ts";
import type { Breach } from "../hibp/breach.ts";
import * as breachDetails from "../hibp/breach-details.ts";
import { severityAt, worstFirst } from "../hibp/severity.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { ownChecked } from "../monitoring/domains/own-checks.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import * as teams from "../monitoring/teams/team.ts";
import { described, emailsById } from "./finding.ts";
import type { DetailedBreach, DetailedFinding } from "./finding-schema.ts";
import { type FindingQuery, page, type Shown } from "./page.ts";
import { findings } from "./record.ts";

/**
 * A page of findings, as `finding.list` gives it. The e-mails, half of what a page reads, are read eventually
 * consistent.
 */
export const list = async (
  org: number,
  query: FindingQuery,
): Promise<{ breaches: DetailedFinding[]; total: number; unacknowledged: number; acknowledged?: number }> => {
  const reading = page(org, query);
  const [breaches, { rows: _, ...counted }] = await Promise.all([
    inFull(org, reading, { consistent: false }),
    reading,
  ]);
  return { breaches, ...counted };
};

/** Refuses `findingNotFound`. */
export const get = async (org: number, id: number): Promise<DetailedFinding> => {
  const reading = findings.get(org, id).then((row) => ({ rows: row === undefined ? [] : [row] }));
  const [finding] = await inFull(org, reading);
  if (finding === undefined) throw new Refusal("findingNotFound");
  return finding;
};

/** These findings, in this order, without those that are not there any more and those of removed e-mails. */
export const getMany = async (org: number, ids: readonly number[]): Promise<DetailedFinding[]> => {
  const reading = findings
    .getMany(org, ids)
    .then((rows) => ({ rows: rows.filter((row) => row !== undefined) }));
  const all = await withOwners(org, reading);
  return all.filter(({ owner }) => owner !== undefined).map(({ finding }) => finding);
};

/** Findings as clients see them in full. What does not depend on `reading` is read at the same time. */
export const inFull = async (
  org: number,
  reading: Promise<{ rows: readonly Shown[] }>,
  options: { consistent?: boolean } = {},
): Promise<DetailedFinding[]> => (await withOwners(org, reading, options)).map(({ finding }) => finding);

/** `owner`: the e-mail; the removal of an e-mail deletes its row first, and its findings after it. */
const withOwners = async (
  org: number,
  reading: Promise<{ rows: readonly Shown[] }>,
  options: { consistent?: boolean } = {},
): Promise<{ finding: DetailedFinding; owner: Email | undefined }[]> => {
  const [checked, allTeams, catalogVersion, { rows }] = await Promise.all([
    ownChecked(org),
    teams.list(org),
    breachDetails.version(),
    reading,
  ]);
  const teamsById = new Map(allTeams.map(({ id, name }) => [id, { id, name }]));
  const owners = emailsById(
    org,
    rows.map(({ emailId }) => emailId),
    options,
  );
  const hasLogins = rows.some(({ stealerLogDomains }) => stealerLogDomains !== undefined);
  const [shown, ownDomains] = await Promise.all([
    described(org, rows, checked, catalogVersion, () => owners),
    hasLogins ? domains.list(org) : [],
  ]);
  const ownNames = ownDomains.filter(({ verified }) => verified).map(({ name }) => name);
  const ownersById = await owners;
  return shown.map(({ finding, row, breach }) => {
    const owner = ownersById.get(finding.emailId);
    const teamId = owner && emails.groupOf(owner).teamId;
    const { severity, isHistory } = findings.groupOf(row);
    const full = {
      ...finding,
      breach: detailed(breach),
      severity: severityAt(severity),
      isHistory,
      ownerToldAt: row.ownerToldAt ?? null,
      endedBy: endedByIn(row),
      ownerName: owner?.ownerName ?? null,
      ...(row.stealerLogDomains && loginsOf(row.stealerLogDomains, ownNames)),
      isPrivileged: owner?.person?.isPrivileged === true,
      hasLeft: owner?.person?.leftAt !== undefined,
      team: (teamId != null && teamsById.get(teamId)) || null,
    };
    return { finding: full, owner };
  });
};

const endedByIn = ({ acknowledgment }: Pick<Shown, "acknowledgment">): DetailedFinding["endedBy"] => {
  const { rule, reason, at = "" } = acknowledgment ?? {};
  return rule === undefined ? null : { rule, fact: reason ?? "", at };
};

/** The websites of stolen logins, those of the organization's own domains first. */
const loginsOf = (websites: readonly string[], ownNames: readonly string[]) => {
  const isOwn = (website: string): boolean =>
    ownNames.some((name) => website === name || website.endsWith(`.${name}`));
  const ownLogins = websites.filter(isOwn);
  return { stealerLogDomains: [...ownLogins, ...websites.filter((each) => !isOwn(each))], ownLogins };
};

/** A breach as clients see it in full. */
export const detailed = (breach: Breach): DetailedBreach => {
  const { isSubscriptionFree: _, logoPath: __, ...shown } = breach;
  return { ...shown, dataClasses: worstFirst(breach.dataClasses), advice: adviceOf(breach) };
};
