import type { Actor } from "../access/activity/actor.ts";
import type { Write } from "../aws/table/condition.ts";
import { countedList } from "../lists/counted-list.ts";
import * as counts from "../lists/counts.ts";
import * as notes from "./breach-notes.ts";
import type { Resolution } from "./finding-schema.ts";

/** The stored fields of a finding besides its group. The breach's details are in the catalog. */
export type FindingRow = {
  emailId: number;
  email: string;
  domainId: number;
  breachId: number;
  firstDetectedAt: string;
  /**
   * Only for a finding that has disappeared upstream: when it was last seen (ISO 8601). Every other finding
   * was last seen by the last check of its e-mail.
   */
  lastSeenAt?: string;
  acknowledgment?: {
    at: string;
    by: Actor;
    resolution: Resolution;
    reason: string | null;
  };
};

/** `scanId`: the scan that first detected the finding; `domainId`: of its e-mail. */
export type FindingGroup = { scanId: number | null; acknowledged: boolean; domainId: number };

/** `createdAt`: when the row was written. `firstDetectedAt`: the time of the check that found the breach. */
export const findings = countedList<FindingGroup, FindingRow>("FINDING", {
  scanId: "integer",
  acknowledged: "boolean",
  domainId: "integer",
});

export type FindingRecord = NonNullable<Awaited<ReturnType<typeof findings.get>>>;

/** A finding that changes, as its other rows need to know it. */
export type FollowedFinding = Pick<FindingRecord, "id" | "breachId" | "firstDetectedAt">;

/** A finding that is detected (no `from`), acknowledged or deleted (no `to`). */
export type FindingChange = FollowedFinding & {
  from?: FindingGroup | undefined;
  to?: FindingGroup | undefined;
};

/**
 * The writes of everything that follows from changes of findings, for the transaction that makes these: counts, and notes for the index
 * of breaches. One write, and one for each block of 512 ids. `breachedEmails`: by how much the number of active e-mails with a
 * finding changes. `part`: as of the list's own writes, so that who writes at the same time writes to other rows.
 */
export const following = (
  org: number,
  changes: readonly FindingChange[],
  { breachedEmails = 0, part }: { breachedEmails?: number; part?: number } = {},
): Write[] => [
  ...counts.writes(org, { findings: changes, breachedEmails }),
  ...notes.writes(
    org,
    changes.map(({ id, breachId, from, to }) => ({
      id,
      breachId,
      from: from && findings.groupKeyOf(from),
      to: to && findings.groupKeyOf(to),
    })),
    part,
  ),
];

/** `following` for findings that are acknowledged; `group` is the one before. Those that were acknowledged already need nothing. */
export const followingAcknowledgment = (
  org: number,
  rows: readonly (FollowedFinding & { group: string })[],
  part?: number,
): Write[] =>
  following(
    org,
    rows.map((row) => {
      const from = findings.groupOf(row);
      return { ...row, from, to: { ...from, acknowledged: true } };
    }),
    { ...(part !== undefined && { part }) },
  );

/** The writes that delete those of the findings which still exist, for one transaction. `breachedEmails`: as of `following`. */
export const deletions = async (
  org: number,
  ids: readonly number[],
  { breachedEmails = 0 }: { breachedEmails?: number } = {},
): Promise<Write[]> => {
  const rows = (await findings.getMany(org, ids)).filter((row) => row !== undefined);
  return [
    ...findings.writes(
      org,
      rows.map((row) => findings.delete(org, row.id, findings.groupOf(row))),
    ),
    ...following(
      org,
      rows.map((row) => ({ ...row, from: findings.groupOf(row) })),
      { breachedEmails },
    ),
  ];
};
