import { absent, asRead, exists } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { type FindingRecord, findings } from "../../findings/record.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { type Email, emails } from "../../monitoring/emails/record.ts";
import * as teams from "../../monitoring/teams/team.ts";
import type { FindingIndex, IndexedFinding } from "./finding-index.ts";
import { changedDuringRead, type Inspection, type Problem } from "./inspector.ts";

/** What an e-mail's row says about its findings. */
type FindingSummary = Pick<Email, "findings" | "unacknowledged" | "gone">;

/** What an e-mail's row should say, and where it differs, according to the findings that it names. */
const compareWithFindings = (
  row: FindingSummary & { id: number },
  findingOf: (id: number) => IndexedFinding | undefined,
): { expected: FindingSummary; problems: string[] } => {
  const expected: FindingSummary = { findings: {}, unacknowledged: 0 };
  const problems: string[] = [];
  const gone = new Set<number>();
  for (const [key, id] of Object.entries(row.findings)) {
    const breachId = Number(key);
    const finding = findingOf(id);
    if (finding === undefined) {
      problems.push(`finding ${id} of breach ${breachId} is not there`);
      continue;
    }
    if (finding.emailId !== row.id || finding.breachId !== breachId) {
      problems.push(
        `finding ${id} is of e-mail ${finding.emailId} and breach ${finding.breachId}, not breach ${breachId}`,
      );
      continue;
    }
    expected.findings[breachId] = id;
    if (!finding.acknowledged) expected.unacknowledged++;
    if (finding.disappeared) gone.add(breachId);
  }
  if (gone.size > 0) expected.gone = gone;
  if (expected.unacknowledged !== row.unacknowledged) {
    problems.push(`unacknowledged is ${row.unacknowledged}, should be ${expected.unacknowledged}`);
  }
  const [actual, should] = [textOf(row.gone), textOf(expected.gone)];
  if (actual !== should) problems.push(`breaches gone upstream are ${actual}, should be ${should}`);
  return { expected, problems };
};

const textOf = (ids: ReadonlySet<number> | undefined): string =>
  [...(ids ?? [])].sort((one, other) => one - other).join(",") || "none";

/** Whether an e-mail agrees with the findings in the index. Notes in the index which findings it holds. */
export const agreesWithFindings = (row: FindingSummary & { id: number }, index: FindingIndex): boolean => {
  for (const id of Object.values(row.findings)) index.markHeld(id);
  return compareWithFindings(row, (id) => index.get(id)).problems.length === 0;
};

/** An e-mail's row must agree with the rows of its findings. */
export const inspectFindings =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const before = await emails.get(org, id);
    if (before === undefined) return undefined;
    const rows = await findings.getMany(org, Object.values(before.findings));
    const byId = new Map(rows.map((row) => [row?.id, row]));
    const { expected, problems } = compareWithFindings(before, (each) => indexedOf(byId.get(each)));
    if (problems.length === 0) return undefined;
    const after = await emails.get(org, id);
    if (after === undefined || !isSameSummary(before, after)) return changedDuringRead;
    return {
      says: problems.join("; "),
      repair: async () => {
        await table.update(emails.key(org, id), {
          set: { findings: expected.findings, unacknowledged: expected.unacknowledged, gone: expected.gone },
          remove: expected.gone === undefined ? ["gone"] : [],
          if: asRead({
            findings: before.findings,
            unacknowledged: before.unacknowledged,
            gone: before.gone,
            group: before.group,
          }),
        });
      },
    };
  };

const indexedOf = (row: FindingRecord | undefined): IndexedFinding | undefined =>
  row && {
    emailId: row.emailId,
    breachId: row.breachId,
    acknowledged: findings.groupOf(row).acknowledged,
    groupKey: row.group,
    disappeared: row.lastSeenAt !== undefined,
  };

const isSameSummary = (one: FindingSummary, other: FindingSummary): boolean =>
  JSON.stringify(one.findings) === JSON.stringify(other.findings) &&
  one.unacknowledged === other.unacknowledged &&
  textOf(one.gone) === textOf(other.gone);

/** The row that makes an address unique must name the e-mail of this address. */
export const inspectAddress =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const email = await emails.get(org, id);
    if (email === undefined) return undefined;
    const key = keys.address(org, email.email);
    const address = await table.get<{ emailId: number }>(key);
    if (address?.emailId === id) return undefined;
    const emailExists = { check: emails.key(org, id), if: exists };
    if (address === undefined) {
      return {
        says: "its address row is not there",
        repair: () => table.transact([emailExists, { put: { ...key, emailId: id }, if: absent }]),
      };
    }
    const { emailId } = address;
    const other = await emails.get(org, emailId);
    const says = `its address row names e-mail ${emailId}`;
    if (other?.email === email.email) {
      return { says, advice: `E-mails ${emailId} and ${id} are one address: remove one of them.` };
    }
    return {
      says,
      repair: () =>
        table.transact([emailExists, { update: key, set: { emailId: id }, if: asRead({ emailId }) }]),
    };
  };

/** An e-mail's domain must exist, and its team if it has one. */
export const inspectDomainAndTeam =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const email = await emails.get(org, id);
    if (email === undefined) return undefined;
    const { domainId, teamId } = emails.groupOf(email);
    const [domain, team, removal] = await Promise.all([
      domains.get(org, domainId),
      teamId === null ? undefined : teams.get(org, teamId),
      teamId === null ? undefined : table.get<{ dueAt?: string }>(keys.teamRemoval(org, teamId)),
    ]);
    // The sweep still moves e-mails out of a team that was just deleted.
    const isTeamLost = teamId !== null && team === undefined && removal?.dueAt === undefined;
    const problems = [
      ...(domain === undefined ? [`its domain ${domainId} is not there`] : []),
      ...(isTeamLost ? [`its team ${teamId} is not there`] : []),
    ];
    if (problems.length === 0) return undefined;
    return {
      says: problems.join("; "),
      advice: "Restore the missing row from a backup of the table, or remove the e-mail.",
    };
  };
