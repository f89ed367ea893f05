import * as activity from "../activity/activity.ts";
import { Refusal } from "../api/errors.ts";
import * as catalog from "../catalog/details.ts";
import { type OwnChecks, ownChecksIn } from "../emails/own-check.ts";
import { emails } from "../emails/record.ts";
import { lastScannedAt, later } from "../emails/watermark.ts";
import type { Actor } from "../organizations/actor.ts";
import * as domains from "../organizations/domain.ts";
import { retrying } from "../table/attempts.ts";
import { exists } from "../table/condition.ts";
import * as table from "../table/table.ts";
import { type FindingFacet, type FindingRecord, findings } from "./record.ts";
import type { Finding, Resolution } from "./schema.ts";

/** A page of findings, newest first, how many match, and how many of all are not acknowledged. */
export const list = async (
  org: number,
  query: { limit: number; offset: number; acknowledged?: boolean | undefined; scanId?: number | undefined },
): Promise<{ breaches: Finding[]; total: number; unacknowledged: number }> => {
  const { acknowledged, scanId, limit, offset } = query;
  const filtered = acknowledged !== undefined || scanId !== undefined;
  const { items, total, directory, beside, joined } = await findings.page(org, {
    limit,
    offset,
    attributes: shownAttributes,
    join: async (facets) => (facets.length > 0 ? catalog.version() : undefined),
    ...(filtered && {
      matches: (facet: FindingFacet) =>
        (acknowledged === undefined || facet.acknowledged === acknowledged) &&
        (scanId === undefined || facet.scanId === scanId),
    }),
  });
  return {
    breaches: await described(org, items, ownChecksIn(beside), joined),
    total,
    unacknowledged: findings.sum(directory, (facet) => !facet.acknowledged),
  };
};

const shownAttributes = [
  "emailId",
  "email",
  "domainId",
  "breachId",
  "firstDetectedAt",
  "lastSeenAt",
  "acknowledgment",
] as const;
type Shown = Pick<FindingRecord, "id" | "facet" | (typeof shownAttributes)[number]>;

/** Findings as the interface shows them: with the catalog's current details and their e-mail's last check. */
const described = async (
  org: number,
  rows: readonly Shown[],
  noted: OwnChecks,
  catalogVersion: string | undefined,
): Promise<Finding[]> => {
  const hasOwnCheck = (row: Shown): boolean =>
    noted.domains.has(row.domainId) || noted.emails.has(row.emailId);
  const ownIds = rows.filter(hasOwnCheck).map((row) => row.emailId);
  const [rowsOfEmails, domainsById, breaches] = await Promise.all([
    emails.getMany(org, ownIds),
    domains.getMany(
      org,
      rows.map((row) => row.domainId),
    ),
    catalog.details(
      rows.map((row) => row.breachId),
      catalogVersion,
    ),
  ]);
  const emailsById = new Map(ownIds.map((id, index) => [id, rowsOfEmails[index]]));
  const lastCheckOf = (row: Shown): string | null => {
    const domain = domainsById.get(row.domainId);
    if (domain === undefined) return null;
    if (!hasOwnCheck(row)) return domain.checkedAt;
    // An e-mail that is being removed has no row any more.
    const email = emailsById.get(row.emailId);
    return email === undefined ? null : lastScannedAt(email, domain);
  };
  return rows.map((row): Finding => {
    const breach = breaches.get(row.breachId);
    if (breach === undefined) throw new Error(`Finding ${row.id} names a breach that is not in the catalog`);
    const { id, name, title, domain, breachDate, dataClasses, pwnCount, description } = breach;
    const { scanId, acknowledged } = findings.facetOf(row);
    const { at = null, by, reason = null, resolution = null } = row.acknowledgment ?? {};
    const byWhom = by?.id == null ? null : { id: by.id, label: by.label };
    return {
      id: row.id,
      email: row.email,
      emailId: row.emailId,
      breach: { id, name, title, domain, breachDate, dataClasses, pwnCount, description },
      firstDetectedAt: row.firstDetectedAt,
      // While the check that found it is not finished, the last finished one is an earlier one.
      lastSeenAt: row.lastSeenAt ?? later(lastCheckOf(row), row.firstDetectedAt),
      firstDetectedScanId: scanId,
      acknowledged,
      acknowledgedAt: at,
      acknowledgedBy: by?.type === "user" ? byWhom : null,
      acknowledgedByApiKey: by?.type === "api_key" ? byWhom : null,
      acknowledgeReason: reason,
      resolution,
    };
  });
};

/** Acknowledges a finding; again, it replaces resolution, reason, actor and time. Refuses `findingNotFound`. */
export const acknowledge = (
  org: number,
  input: { id: number; resolution: Resolution; reason?: string | undefined },
  actor: Actor,
): Promise<void> =>
  retrying(async () => {
    const { id, resolution, reason = null } = input;
    const [row, slot] = await Promise.all([findings.get(org, id), activity.slot(org)]);
    if (row === undefined) throw new Refusal("findingNotFound");
    const from = findings.facetOf(row);
    try {
      await table.transact([
        {
          update: emails.key(org, row.emailId),
          add: { unacknowledged: from.acknowledged ? 0 : -1 },
          if: exists,
        },
        ...findings.writes(org, [
          findings.change(org, id, {
            from,
            to: { ...from, acknowledged: true },
            set: { acknowledgment: { at: slot.createdAt, by: actor, resolution, reason } },
          }),
        ]),
        ...activity.writes(org, slot, {
          action: "finding.acknowledged",
          summary: `Acknowledged a breach of ${row.email} as ${resolution}`,
          actor,
        }),
      ]);
    } catch (error) {
      // Its e-mail is being removed: the finding is about to be deleted.
      if (error instanceof table.TransactionRefused && error.refused(0)) throw new Refusal("findingNotFound");
      throw error;
    }
  });
