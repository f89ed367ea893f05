/** Removal of an e-mail together with its findings, which may take several transactions. */
import * as activity from "../access/activity/activity.ts";
import type { Actor } from "../access/activity/actor.ts";
import { seats } from "../access/billing/billing.ts";
import * as organizations from "../access/organizations/organization.ts";
import { condition, type Write } from "../aws/table/condition.ts";
import { dueShard, keys } from "../aws/table/keys.ts";
import { withOptimisticRetry } from "../aws/table/optimistic-retry.ts";
import * as table from "../aws/table/table.ts";
import { Refusal } from "../contract/errors.ts";
import * as counts from "../lists/counts.ts";
import { emails } from "../monitoring/emails/record.ts";
import { deletions } from "./record.ts";

/** The member's row and its block's directory row. */
const writesPerListMember = 2;

/** A finding is a list member too, and its block has a row of notes. */
const writesPerFinding = writesPerListMember + 1;

/** The e-mail and the log entry, both members of lists; the address, the seats, the removal's own row and the counts. */
const otherWrites = 2 * writesPerListMember + 3 + counts.countWrites;

/** Findings that one transaction deletes, even if each of them lies in a block of its own. */
export const findingsPerTransaction = Math.floor(
  (table.maxTransactionWrites - otherWrites) / writesPerFinding,
);

/** Time for the request to finish; after it the sweep takes over the removal. */
const removalLeaseMilliseconds = 60_000;

/**
 * Removes an e-mail and deletes its findings. The first transaction removes the e-mail with as many findings
 * as fit; further transactions delete the rest, which a due row lists for the sweep. Refuses `emailNotFound`.
 */
export const remove = async (org: number, id: number, actor: Actor): Promise<void> => {
  const rest = await withOptimisticRetry(async () => {
    const [owner, row] = await Promise.all([organizations.existing(org), emails.get(org, id)]);
    if (row === undefined) throw new Refusal("emailNotFound");
    const slot = await activity.slot(org);
    const from = emails.groupOf(row);
    const [now, later] = split(Object.values(row.findings));
    const asRead = condition("#findings = :findings", { findings: row.findings });
    await table.transact([
      ...emails.writes(org, [emails.delete(org, id, from, asRead)]),
      { delete: keys.address(org, row.email) },
      ...(from.isActive ? [seats(org, -1, owner.billing)] : []),
      ...(await deletions(org, now, { breachedEmails: from.isActive && now.length > 0 ? -1 : 0 })),
      ...(later.length > 0 ? [unfinished(org, id, later)] : []),
      ...activity.writes(org, slot, { action: "email.removed", summary: `Removed ${row.email}`, actor }),
    ]);
    return later;
  });
  await deleteFindings(org, id, rest);
};

/** Finishes a removal that was interrupted. Does nothing if the removal is finished already. */
export const resume = async (org: number, id: number): Promise<void> => {
  const removal = await table.get<{ findings: number[] }>(keys.removal(org, id));
  if (removal !== undefined) await deleteFindings(org, id, removal.findings);
};

const deleteFindings = async (org: number, id: number, ids: readonly number[]): Promise<void> => {
  const [now, later] = split(ids);
  if (now.length === 0) return;
  await withOptimisticRetry(async () =>
    table.transact([
      ...(await deletions(org, now)),
      later.length > 0 ? unfinished(org, id, later) : { delete: keys.removal(org, id) },
    ]),
  );
  await deleteFindings(org, id, later);
};

const split = (ids: readonly number[]): [now: readonly number[], later: readonly number[]] => [
  ids.slice(0, findingsPerTransaction),
  ids.slice(findingsPerTransaction),
];

/** The row that lets the sweep resume the removal. */
const unfinished = (org: number, id: number, findings: readonly number[]): Write => ({
  put: {
    ...keys.removal(org, id),
    findings,
    dueShard: dueShard("REMOVAL", id),
    dueAt: new Date(Date.now() + removalLeaseMilliseconds).toISOString(),
  },
});
