import * as activity from "../access/activity/activity.ts";
import type { Actor } from "../access/activity/actor.ts";
import { membership, shownActor } from "../access/members/membership.ts";
import { exists, type Write } from "../aws/table/condition.ts";
import { withOptimisticRetry } from "../aws/table/optimistic-retry.ts";
import * as table from "../aws/table/table.ts";
import { Refusal } from "../contract/errors.ts";
import * as counts from "../counts/counts.ts";
import type { Breach } from "../hibp/breach.ts";
import * as breachDetails from "../hibp/breach-details.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { lastScannedAt, later, type OwnChecked, ownChecked } from "../monitoring/domains/own-checks.ts";
import { changeFindings, type Email, emails } from "../monitoring/emails/record.ts";
import type { Finding, Resolution } from "./finding-schema.ts";
import { type FindingQuery, page, type Shown } from "./page.ts";
import { countedOf, findings } from "./record.ts";

/** A page of findings, newest first. `total` counts those that match the filters, `unacknowledged` all. */
export const list = async (
  org: number,
  query: FindingQuery,
): Promise<{ breaches: Finding[]; total: number; unacknowledged: number }> => {
  const [marked, catalogVersion, { rows, total, unacknowledged }] = await Promise.all([
    ownChecked(org),
    breachDetails.version(),
    page(org, query),
  ]);
  const shown = await described(org, rows, marked, catalogVersion);
  return { breaches: shown.map(({ finding }) => finding), total, unacknowledged };
};

/** Reads e-mails by id; those that are not there any more are left out. */
export const emailsById = async (
  org: number,
  ids: readonly number[],
  options: { consistent?: boolean } = {},
): Promise<Map<number, Email>> => {
  const rows = await emails.getMany(org, [...new Set(ids)], options);
  return new Map(rows.filter((row) => row !== undefined).map((row) => [row.id, row]));
};

type Described = { finding: Finding; row: Shown; breach: Breach };

/**
 * Findings as clients see them, each with its row and breach: with the catalog's current details and the last
 * check of their e-mail. `emailsOf` reads the e-mails whose rows are needed.
 */
export const described = async (
  org: number,
  rows: readonly Shown[],
  marked: OwnChecked,
  catalogVersion: string | undefined,
  emailsOf: (ids: readonly number[]) => Promise<ReadonlyMap<number, Email>> = (ids) => emailsById(org, ids),
): Promise<Described[]> => {
  const domainOf = (row: Shown): number => findings.groupOf(row).domainId;
  const hasOwnCheck = (row: Shown): boolean =>
    marked.domains.has(domainOf(row)) || marked.emails.has(row.emailId);
  const ownIds = rows.filter(hasOwnCheck).map((row) => row.emailId);
  const isByUser = rows.some(({ acknowledgment }) => acknowledgment?.by.type === "user");
  const [users, ownEmails, domainsById, breaches] = await Promise.all([
    isByUser ? membership(org) : undefined,
    emailsOf(ownIds),
    domains.getMany(org, rows.map(domainOf)),
    breachDetails.details(
      rows.map((row) => row.breachId),
      catalogVersion,
    ),
  ]);
  const lastCheckOf = (row: Shown): string | null => {
    const domain = domainsById.get(domainOf(row));
    if (domain === undefined) return null;
    if (!hasOwnCheck(row)) return domain.checkedAt;
    // A removal deletes the e-mail's row first and may still be deleting its findings.
    const email = ownEmails.get(row.emailId);
    return email === undefined ? null : lastScannedAt(email, domain);
  };
  return rows.map((row): Described => {
    const breach = breaches.get(row.breachId);
    if (breach === undefined) throw new Error(`Finding ${row.id} names a breach that is not in the catalog`);
    const { id, name, title, domain, breachDate, dataClasses, pwnCount, description } = breach;
    const { scanId, acknowledged } = findings.groupOf(row);
    const { at = null, by, reason = null, resolution = null } = row.acknowledgment ?? {};
    const label = by && (users === undefined ? by.label : shownActor(by, users).label);
    const byWhom = by?.id == null || label === undefined ? null : { id: by.id, label };
    const finding: Finding = {
      id: row.id,
      email: row.email,
      emailId: row.emailId,
      breach: { id, name, title, domain, breachDate, dataClasses, pwnCount, description },
      firstDetectedAt: row.firstDetectedAt,
      // While the scan that found the breach is in progress, the last check of the e-mail is an earlier one.
      lastSeenAt: row.lastSeenAt ?? later(lastCheckOf(row), row.firstDetectedAt),
      firstDetectedScanId: scanId,
      acknowledged,
      acknowledgedAt: at,
      acknowledgedBy: by?.type === "user" ? byWhom : null,
      acknowledgedByApiKey: by?.type === "api_key" ? byWhom : null,
      acknowledgeReason: reason,
      resolution,
    };
    return { finding, row, breach };
  });
};

/**
 * Acknowledges a finding. Acknowledging it again replaces resolution, reason, actor and time. Refuses
 * `findingNotFound`.
 */
export const acknowledge = (
  org: number,
  input: { id: number; resolution: Resolution; reason?: string | undefined },
  actor: Actor,
): Promise<void> =>
  withOptimisticRetry(async () => {
    const { id, resolution, reason = null } = input;
    const row = await findings.get(org, id);
    if (row === undefined) throw new Refusal("findingNotFound");
    const from = findings.groupOf(row);
    const to = { ...from, acknowledged: true, endedBy: 0 };
    const [email, slot] = await Promise.all([
      from.acknowledged ? undefined : emails.get(org, row.emailId),
      activity.slot(org),
    ]);
    // Without its e-mail the finding is about to be deleted by the removal of the e-mail.
    const isThere: Write = { check: emails.key(org, row.emailId), if: exists, refusal: "findingNotFound" };
    await table.transact([
      ...(email ? emails.writes(org, [changeFindings(org, email, [{ from, to }])]) : [isThere]),
      ...findings.writes(org, [
        findings.change(org, id, {
          from,
          to,
          set: { acknowledgment: { at: slot.createdAt, by: actor, resolution, reason } },
        }),
      ]),
      ...counts.writesOfOne(org, { ...row, from: countedOf(row), to }),
      ...activity.writes(org, slot, {
        action: "finding.acknowledged",
        summary: `Acknowledged a finding of ${row.email} as ${resolution}`,
        actor,
      }),
    ]);
  });
