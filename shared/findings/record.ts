import type { Actor } from "../access/activity/actor.ts";
import type { Write } from "../aws/table/condition.ts";
import { breachPartition } from "../aws/table/keys.ts";
import * as counts from "../counts/counts.ts";
import { levelOf } from "../hibp/severity.ts";
import type { Severity } from "../hibp/severity-schema.ts";
import { countedList } from "../lists/counted-list.ts";
import type { Resolution } from "./finding-schema.ts";
import { type Ender, type RuleId, rulesInOrder } from "./rules/rule-schema.ts";

/** The stored fields of a finding besides its group. The breach's details are in the catalog. */
export type FindingRow = {
  emailId: number;
  email: string;
  breachId: number;
  /** Where the finding is in the index by breach. */
  breachPartition: string;
  firstDetectedAt: string;
  /**
   * Only for a finding that has disappeared upstream: when it was last seen (ISO 8601). Every other finding
   * was last seen by the last check of its e-mail.
   */
  lastSeenAt?: string;
  /** Websites whose logins a stealer log has of the address, when it was found; at most 50. */
  stealerLogDomains?: string[];
  /** Id of the latest delivery that tells its owner of it, which says whether and when it was sent. */
  ownerDelivery?: number;
  /** When that delivery was made (ISO 8601). */
  ownerToldAt?: string;
  /** When it last followed a change of its breach's severity (ISO 8601); none if it never did. */
  severitySince?: string;
  acknowledgment?: Acknowledgment;
  /** A person has reopened it, so that no rule ends it again. */
  isReopened?: true;
  /**
   * A rule ended it as it was recorded, or has opened it again: messages to people about its scan leave it out.
   */
  isToldApart?: true;
};

/** `rule`: the rule that ended the finding; `reason` is then the rule's fact, and `by` the service. */
export type Acknowledgment = {
  at: string;
  by: Actor;
  resolution: Resolution;
  reason: string | null;
  rule?: RuleId;
};

/** As it is stored in group keys and counts; 0 where no rule has ended the finding. Never change it. */
const codeOfRule: Record<RuleId, number> = { left: 1, password_changed: 2, harmless: 3 };

/** The code in group keys of who ended a finding. */
export const endedByOf = ({ rule }: { rule?: RuleId | undefined } = {}): number =>
  rule === undefined ? 0 : codeOfRule[rule];

/** The rule of a code; undefined where no rule has ended the finding. */
export const ruleOf = (endedBy: number): RuleId | undefined =>
  rulesInOrder.find((rule) => codeOfRule[rule] === endedBy);

const isEndedBy = (ender: Ender, { acknowledged, endedBy }: FindingGroup): boolean =>
  acknowledged && (ruleOf(endedBy) ?? "person") === ender;

/**
 * `scanId`: the scan that first detected the finding; `domainId`: of its e-mail; `severity`: of its breach,
 * as a level (severity.ts). `isHistory`: the first check of its e-mail found it, so HIBP knew it before
 * anybody here asked. `told`: a message to its owner was made. `endedBy`: which rule has ended it (`endedByOf`).
 */
export type FindingGroup = {
  scanId: number | null;
  acknowledged: boolean;
  domainId: number;
  severity: number;
  isHistory: boolean;
  told: boolean;
  endedBy: number;
};

/** What can be asked of a group. Fields combine with AND. */
export type GroupFilter = {
  acknowledged?: boolean | undefined;
  domainId?: number | undefined;
  scanId?: number | undefined;
  /** One of these. */
  severity?: readonly Severity[] | undefined;
  told?: boolean | undefined;
  endedBy?: Ender | undefined;
};

/** Whether a group matches a filter. */
export const isOf = (
  { acknowledged, domainId, scanId, severity, told, endedBy }: GroupFilter,
  group: FindingGroup,
): boolean =>
  (endedBy === undefined || isEndedBy(endedBy, group)) &&
  (told === undefined || group.told === told) &&
  (acknowledged === undefined || group.acknowledged === acknowledged) &&
  (domainId === undefined || group.domainId === domainId) &&
  (scanId === undefined || group.scanId === scanId) &&
  (severity === undefined || severity.some((each) => group.severity === levelOf(each)));

/** `createdAt`: when the row was written. `firstDetectedAt`: the time of the check that found the breach. */
export const findings = countedList<FindingGroup, FindingRow>("FINDING", {
  scanId: "integer",
  acknowledged: "boolean",
  domainId: "integer",
  severity: "integer",
  isHistory: "boolean",
  told: "boolean",
  endedBy: "integer",
});

export type FindingRecord = NonNullable<Awaited<ReturnType<typeof findings.get>>>;

export const newFinding = (
  org: number,
  fields: Pick<
    FindingRow,
    | "emailId"
    | "email"
    | "breachId"
    | "firstDetectedAt"
    | "stealerLogDomains"
    | "acknowledgment"
    | "isToldApart"
  >,
): FindingRow => ({ ...fields, breachPartition: breachPartition(org, fields.breachId) });

/** What counts say of a finding. */
export const countedOf = (row: Pick<FindingRecord, "group" | "acknowledgment">) => ({
  ...findings.groupOf(row),
  endedAt: row.acknowledgment?.at,
});

export const deletions = (org: number, rows: readonly FindingRecord[]): Write[] => [
  ...findings.writes(
    org,
    rows.map((row) => findings.delete(org, row.id, findings.groupOf(row))),
  ),
  ...counts.writes(org, {
    findings: rows.map((row) => ({ ...row, from: countedOf(row) })),
  }),
];
