import type { Logger } from "@aws-lambda-powertools/logger";
import { service } from "../access/activity/actor.ts";
import { exists, type Write } from "../aws/table/condition.ts";
import type { CountedChange } from "../counts/counts.ts";
import { endedByOf, type FindingGroup, type FindingRow, findings, newFinding } from "../findings/record.ts";
import { factsOf, firstHolding } from "../findings/rules/rule.ts";
import type { RuleId } from "../findings/rules/rule-schema.ts";
import type { Breach } from "../hibp/breach.ts";
import type { Grade } from "../hibp/breach-details.ts";
import type { Reserved } from "../lists/blocks.ts";
import type { MemberWrite } from "../lists/member-writes.ts";
import type { Domain } from "../monitoring/domains/domain.ts";
import { lastScannedAt } from "../monitoring/domains/own-checks.ts";
import { changeFindings, type Email, emails, isBreached } from "../monitoring/emails/record.ts";
import { breachesPerEvent } from "../outbox/outbox.ts";
import { type EmailChange, isIncluded } from "./compare-email.ts";
import type { ChunkKey } from "./email-chunks.ts";

/**
 * The check of one chunk. `isFirst`: of its scan. `checkedAt`: its time, which is before HIBP was asked
 * (ISO 8601).
 */
export type Check = ChunkKey & {
  isFirst: boolean;
  checkedAt: (domain: Domain) => string;
  domains: ReadonlyMap<number, Domain>;
  logger: Logger;
};

/** The grades of the breaches that a chunk has found, by breach id. */
export type Grades = ReadonlyMap<number, Grade>;

/** What rules make of new findings: those that are on, and the breaches as the catalog has them, by id. */
export type Rules = { on: ReadonlySet<RuleId>; breaches: ReadonlyMap<number, Breach> };

/**
 * The domain of an e-mail that is still part of its scan. An e-mail whose domain was unverified since then is
 * not, also when the domain is verified again. (`planState` is then "failed".)
 */
export const includedDomainOf = ({ scanId, domains }: Check, row: Email): Domain | undefined => {
  const group = emails.groupOf(row);
  const domain = domains.get(group.domainId);
  const isStillIncluded =
    isIncluded(row, group, scanId) && domain?.verified === true && domain.planState !== "failed";
  return isStillIncluded ? domain : undefined;
};

/** The part of a change that is not recorded yet, given the e-mail's row. */
export const pendingOf = (row: Email, { found, gone, back, ...change }: EmailChange): EmailChange => {
  const isHeld = (breachId: number): boolean => row.findings[breachId] !== undefined;
  return {
    ...change,
    found: found.filter((breachId) => !isHeld(breachId)),
    gone: gone.filter((breachId) => isHeld(breachId) && !row.gone?.has(breachId)),
    back: back.filter((breachId) => isHeld(breachId) && row.gone?.has(breachId)),
  };
};

export const sizeOf = ({ found, gone, back }: EmailChange): number =>
  found.length + gone.length + back.length;

/**
 * The first `size` breaches of a change, with new ones for one alert at most. Gone breaches come first: their
 * `lastSeenAt` is the e-mail's check before this one. Recording the others overwrites that time.
 */
export const firstOf = ({ found, gone, back, ...change }: EmailChange, size: number): EmailChange => ({
  ...change,
  gone: gone.slice(0, size),
  back: back.slice(0, Math.max(0, size - gone.length)),
  found: found.slice(0, Math.min(breachesPerEvent, Math.max(0, size - gone.length - back.length))),
});

/** The new breaches of a change, each with the id that was reserved for its finding. */
const detectedOf = ({ found }: EmailChange, ids: readonly Reserved[]) =>
  found.map((breachId, index) => {
    const id = ids[index];
    if (id === undefined) throw new Error("Too few ids of findings were reserved");
    return { breachId, id };
  });

/**
 * The writes of one e-mail's change. `detected`, `breachedEmails` and `people` are what the counts have
 * to add, whose rows the changes of several e-mails share.
 */
export type ChangeWrites = {
  detected: CountedChange[];
  breachedEmails: number;
  people: string[];
  email: MemberWrite;
  newFindings: MemberWrite[];
  seenFindings: Write[];
};

/**
 * The writes of a pending change, given the e-mail's row as read; they fail when that row changes.
 * `ids`: for the new findings.
 */
export const writesOfChange = (
  { org, scanId, checkedAt: checkedAtOf, grades, rules }: Check & { grades: Grades; rules: Rules },
  row: Email,
  domain: Domain,
  change: EmailChange,
  ids: readonly Reserved[],
): ChangeWrites => {
  const { found, gone, back, stealerLogs } = change;
  const group = emails.groupOf(row);
  const checkedAt = checkedAtOf(domain);
  const detected = detectedOf(change, ids);
  // The parts of a change are written one after another, perhaps by several workers.
  const isHistory = row.firstScan === scanId || lastScannedAt(row, domain) === null;
  const now = new Date();
  const endings = new Map(
    found.flatMap((breachId) => {
      const breach = rules.breaches.get(breachId);
      const ending = breach && firstHolding({ person: row.person, breach }, rules.on, now);
      return ending === undefined ? [] : [[breachId, ending]];
    }),
  );
  const groupOf = (breachId: number): FindingGroup => ({
    scanId,
    acknowledged: endings.has(breachId),
    domainId: group.domainId,
    severity: gradeIn(grades, breachId).level,
    isHistory,
    told: false,
    endedBy: endedByOf(endings.get(breachId)),
  });
  const acknowledgmentOf = (breachId: number): Pick<FindingRow, "acknowledgment" | "isToldApart"> => {
    const ending = endings.get(breachId);
    if (ending === undefined) return {};
    const { rule, resolution, fact } = ending;
    const acknowledgment = { at: now.toISOString(), by: service, resolution, reason: fact, rule };
    return { acknowledgment, isToldApart: true };
  };
  const isOpenAmong = found.some((breachId) => !endings.has(breachId));
  const lastSeenAt = lastScannedAt(row, domain) ?? row.createdAt;
  const isNewestCheck = found.length + back.length > 0 && checkedAt > (row.lastScannedAt ?? "");
  const nowGone = new Set([...(row.gone ?? []), ...gone].filter((breachId) => !back.includes(breachId)));
  const findingKey = (breachId: number) => findings.key(org, row.findings[breachId] ?? 0);
  return {
    detected: detected.map(({ breachId, id: { id } }) => ({
      id,
      breachId,
      firstDetectedAt: checkedAt,
      to: { ...groupOf(breachId), ...(endings.has(breachId) && { endedAt: now.toISOString() }) },
    })),
    breachedEmails: found.length > 0 && group.isActive && !isBreached(row) ? 1 : 0,
    people: isOpenAmong && !isHistory ? [checkedAt] : [],
    email: changeFindings(
      org,
      row,
      found.map((breachId) => ({ to: groupOf(breachId) })),
      {
        set: {
          ...Object.fromEntries(detected.map(({ breachId, id }) => [`findings.${breachId}`, id.id])),
          ...(isNewestCheck && { lastScannedAt: checkedAt }),
          ...(isHistory && found.length > 0 && { firstScan: scanId }),
          ...(nowGone.size > 0 && { gone: nowGone }),
        },
        ...(nowGone.size === 0 && { remove: ["gone"] }),
        read: {
          afterScan: row.afterScan,
          findings: row.findings,
          gone: row.gone,
          // With other facts, rules would judge the new findings in another way.
          ...(found.length > 0 && factsOf(row)),
        },
      },
    ),
    newFindings: detected.map(({ breachId, id }) =>
      findings.put(
        org,
        id,
        groupOf(breachId),
        newFinding(org, {
          emailId: row.id,
          email: row.email,
          breachId,
          firstDetectedAt: checkedAt,
          ...(stealerLogs?.breachIds.includes(breachId) && { stealerLogDomains: stealerLogs.domains }),
          ...acknowledgmentOf(breachId),
        }),
      ),
    ),
    seenFindings: [
      ...gone.map((breachId): Write => ({ update: findingKey(breachId), set: { lastSeenAt }, if: exists })),
      ...back.map(
        (breachId): Write => ({ update: findingKey(breachId), remove: ["lastSeenAt"], if: exists }),
      ),
    ],
  };
};

/** Every breach has a row before it is found. */
export const gradeIn = (grades: Grades, breachId: number): Grade => {
  const grade = grades.get(breachId);
  if (grade === undefined) throw new Error(`Breach ${breachId} is not in the catalog`);
  return grade;
};
