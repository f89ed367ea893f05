/** Removal of an e-mail together with its findings, which may take several transactions. */
import * as activity from "../access/activity/activity.ts";
import type { Actor } from "../access/activity/actor.ts";
import { seats } from "../access/billing/billing.ts";
import * as organizations from "../access/organizations/organization.ts";
import { TransactionBudget } from "../aws/table/budget.ts";
import { condition, type Write } from "../aws/table/condition.ts";
import { dueShard, keys } from "../aws/table/keys.ts";
import { withOptimisticRetry } from "../aws/table/optimistic-retry.ts";
import * as table from "../aws/table/table.ts";
import { Refusal } from "../contract/errors.ts";
import * as counts from "../monitoring/counts/counts.ts";
import { type EmailWrites, inBulkById, transactionOf } from "../monitoring/emails/changes.ts";
import { type Email, emails, isBreached } from "../monitoring/emails/record.ts";
import { ownerWordWrites } from "../monitoring/emails/search.ts";
import { deletions, type FindingRecord, findings } from "./record.ts";

/** Time for the request to finish; after it the sweep takes over the removal. */
const removalLeaseMilliseconds = 60_000;

/** The writes that remove an e-mail besides those of its findings. */
const removalOf = (org: number, row: Email): EmailWrites => {
  const { id, ownerName } = row;
  const from = emails.groupOf(row);
  const asRead = condition("#findings = :findings AND #ownerName = :ownerName", {
    findings: row.findings,
    ownerName,
  });
  const by = from.isActive ? -1 : 0;
  return {
    email: emails.delete(org, id, from, asRead),
    others: [
      { delete: keys.address(org, row.email) },
      ...ownerWordWrites(org, { id, domainId: from.domainId, ownerName: null }, ownerName),
    ],
    seats: by,
    breachedEmails: isBreached(row) ? by : 0,
    people: [{ from: row.lastFoundAt }],
  };
};

/**
 * Removes an e-mail and deletes its findings. The first transaction removes the e-mail with as many findings
 * as fit; further transactions delete the rest, which a due row lists for the sweep. Refuses `emailNotFound`.
 */
export const remove = async (org: number, id: number, actor: Actor): Promise<void> => {
  const rest = await withOptimisticRetry(async () => {
    const [owner, row] = await Promise.all([organizations.existing(org), emails.get(org, id)]);
    if (row === undefined) throw new Refusal("emailNotFound");
    const slot = await activity.slot(org);
    const removal = removalOf(org, row);
    const others: Write[] = [
      // The rows that count the findings count the breached e-mail too.
      ...transactionOf(org, [{ ...removal, breachedEmails: 0, people: [] }]),
      ...(removal.seats === 0 ? [] : [seats(org, removal.seats, owner.billing)]),
      ...activity.writes(org, slot, { action: "email.removed", summary: `Removed ${row.email}`, actor }),
    ];
    const { people = [] } = removal;
    const { now, later } = await split(org, Object.values(row.findings), [
      ...others,
      ...counts.writes(org, { people }),
    ]);
    await table.transact([
      ...others,
      ...deletions(org, now, { breachedEmails: removal.breachedEmails, people }),
      ...(later.length > 0 ? [unfinished(org, id, later)] : []),
    ]);
    return later;
  });
  await deleteFindings(org, id, rest);
};

/** How long a request goes on deleting findings of e-mails that are removed; the sweep deletes the rest. */
const deletionMilliseconds = 10_000;

/**
 * Removes many e-mails. Their findings are deleted afterwards, for ten seconds here, and by the sweep. Refuses `emailNotFound` before
 * anything is removed.
 */
export const removeMany = async (
  org: number,
  ids: readonly number[],
  actor: Actor,
): Promise<{ changed: number; skipped: number }> => {
  const { done, skipped } = await inBulkById<EmailWrites & { id: number }>(org, {
    ids,
    action: "emails.removed",
    summaryOf: ({ length }) => `Removed ${length} ${length === 1 ? "address" : "addresses"}`,
    actor,
    writesOf: async (rows) =>
      rows.map((row) => {
        const removal = removalOf(org, row);
        const named = Object.values(row.findings);
        if (named.length > 0) removal.others.push(unfinished(org, row.id, named));
        return { ...removal, id: row.id };
      }),
  });
  const endsAt = Date.now() + deletionMilliseconds;
  for (const { id } of done) if (Date.now() < endsAt) await resume(org, id);
  return { changed: done.length, skipped };
};

/** Finishes a removal that was interrupted. Does nothing if the removal is finished already. */
export const resume = async (org: number, id: number): Promise<void> => {
  const removal = await table.get<{ findings: number[] }>(keys.removal(org, id));
  if (removal !== undefined) await deleteFindings(org, id, removal.findings);
};

const deleteFindings = async (org: number, id: number, ids: readonly number[]): Promise<void> => {
  for (let left = ids; left.length > 0; ) {
    left = await withOptimisticRetry(async () => {
      const { now, later } = await split(org, left, []);
      await table.transact([
        ...deletions(org, now),
        later.length > 0 ? unfinished(org, id, later) : { delete: keys.removal(org, id) },
      ]);
      return later;
    });
  }
};

/** Those of the findings that still exist and that one transaction deletes besides `others`, and the ids of the rest. */
const split = async (
  org: number,
  ids: readonly number[],
  others: readonly Write[],
): Promise<{ now: FindingRecord[]; later: number[] }> => {
  const rows = (await findings.getMany(org, ids)).filter((row) => row !== undefined);
  const budget = new TransactionBudget([...others, unfinished(org, 0, [])]);
  const rest = rows.findIndex((row) => !budget.take(deletions(org, [row])));
  if (rest < 0) return { now: rows, later: [] };
  return { now: rows.slice(0, rest), later: rows.slice(rest).map(({ id }) => id) };
};

/** The row that lets the sweep resume the removal. */
const unfinished = (org: number, id: number, ids: readonly number[]): Write => ({
  put: {
    ...keys.removal(org, id),
    findings: ids,
    dueShard: dueShard("REMOVAL", id),
    dueAt: new Date(Date.now() + removalLeaseMilliseconds).toISOString(),
  },
});
