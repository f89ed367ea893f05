import { isDeepStrictEqual } from "node:util";
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { seats } from "../../access/billing/billing.ts";
import { activeCount, enabledOf } from "../../access/billing/quote.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { TransactionBudget } from "../../aws/table/budget.ts";
import { absent, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { rowOf } from "../../aws/table/transaction.ts";
import { Refusal } from "../../contract/errors.ts";
import { type Reserved, reserve } from "../../lists/blocks.ts";
import * as domains from "../domains/domain.ts";
import { emails, newEmailRow } from "../emails/record.ts";
import { ownerWordWrites } from "../emails/search.ts";
import type { ImportPlan } from "./import-schema.ts";
import { monitoredOf, plan } from "./plan.ts";

export type Imported = {
  /** Everything that was imported, including `disabledCount`. */
  importedCount: number;
  /** Imported as disabled, because the seat allowance was used up. */
  disabledCount: number;
  /** How many addresses of the plan were not imported. */
  skippedCount: number;
};

type Row = { email: string; domainId: number; ownerName: string | null };

/** A row to import, with the id that the e-mail gets. */
type Pending = Row & { reserved: Reserved };

/**
 * Imports the addresses that a preview marked `will_import`, as `importAll` does. After a crash half-way a
 * fresh preview shows the rest.
 *
 * Refuses `nothingToImport` when a fresh plan of the same addresses has nothing to import, and
 * `quoteMismatch` when the fresh plan differs from the given one.
 */
export const commit = async (org: number, given: ImportPlan, actor: Actor): Promise<Imported> => {
  const fresh = await plan(org, given.emails);
  const wanted = fresh.emails.filter(({ status }) => status === "will_import");
  if (wanted.length === 0) throw new Refusal("nothingToImport");
  if (!isDeepStrictEqual(fresh, given)) throw new Refusal("quoteMismatch");

  const done = await importAll(
    org,
    wanted.map(({ email, domainId, ownerName = null }) => {
      if (domainId === null) throw new Error("A row to import has no domain");
      return { email, domainId, ownerName };
    }),
    actor,
  );
  // Other requests have added all of the addresses since the fresh plan was made.
  if (done.imported === 0) throw new Refusal("nothingToImport");
  return {
    importedCount: done.imported,
    disabledCount: done.disabled,
    skippedCount: given.emails.length - done.imported,
  };
};

/**
 * Imports any number of different addresses of the organization's domains, in one transaction after another.
 * Skips addresses that are monitored by then, and addresses whose domain is not verified by then.
 *
 * The import has one entry in the activity log, whose count each transaction raises. So log, seats and lists
 * agree on what is there, wherever a crash ends the import.
 *
 * @param progress Is called after each transaction with the number of rows dealt with.
 */
export const importAll = async (
  org: number,
  rows: readonly Row[],
  actor: Actor,
  progress: (rows: number) => void = () => {},
): Promise<Progress> => {
  const [reserved, slot] = await Promise.all([reserve(org, "EMAIL", rows.length), activity.slot(org)]);
  let pending = rows.map((row, index): Pending => ({ ...row, reserved: reserved[index] as Reserved }));
  const total: Progress = { imported: 0, disabled: 0 };
  while (pending.length > 0) {
    const done = await withOptimisticRetry(() => importFirst(org, pending, total, slot, actor));
    total.imported += done.imported;
    total.disabled += done.disabled;
    pending = pending.slice(done.rows);
    progress(rows.length - pending.length);
  }
  return total;
};

/** `imported` includes `disabled`: the e-mails beyond the seat allowance. */
export type Progress = { imported: number; disabled: number };

/** More rows than a transaction takes, since each row is at least the e-mail and its address. */
const maximumRowsAtOnce = table.maxTransactionWrites / 2;

/**
 * Imports as many of the first rows as fit into one transaction, without those that cannot be imported any more. Throws
 * `TransactionRefused` when something that it read has changed before it writes. `earlier` is what earlier
 * transactions of this import did; `rows`: how many rows this one dealt with.
 */
const importFirst = async (
  org: number,
  pending: readonly Pending[],
  earlier: Progress,
  slot: Reserved,
  actor: Actor,
): Promise<Progress & { rows: number }> => {
  const first = pending.slice(0, maximumRowsAtOnce);
  const [owner, active, domainsById, monitored] = await Promise.all([
    organizations.existing(org),
    activeCount(org),
    domains.getMany(
      org,
      first.map(({ domainId }) => domainId),
    ),
    monitoredOf(
      org,
      first.map(({ email }) => email),
    ),
  ]);
  const writesOf = (row: Pending, domain: domains.Domain, isActive: boolean) => ({
    check: domains.unchanged(org, domain),
    found: [
      {
        put: { ...keys.address(org, row.email), emailId: row.reserved.id, domainId: domain.id },
        if: absent,
      },
      ...ownerWordWrites(org, { ...row, id: row.reserved.id }, null),
    ],
    email: emails.put(
      org,
      row.reserved,
      { domainId: domain.id, teamId: null, isActive },
      newEmailRow(row, domain),
    ),
  });
  const othersOf = (done: Progress): Write[] => [
    ...(done.imported > done.disabled ? [seats(org, done.imported - done.disabled, owner.billing)] : []),
    ...entryWrites(org, slot, earlier, done, actor),
  ];
  const budget = new TransactionBudget(othersOf({ imported: first.length, disabled: 0 }));
  const taken: ReturnType<typeof writesOf>[] = [];
  const mostEnabled = enabledOf(owner.billing, active, first.length);
  let rows = 0;
  for (const row of first) {
    const domain = domainsById.get(row.domainId);
    if (domain?.verified === true && !monitored.has(row.email)) {
      const writes = writesOf(row, domain, taken.length < mostEnabled);
      if (!budget.take([writes.check, ...writes.found, ...emails.writes(org, [writes.email])])) break;
      taken.push(writes);
    }
    rows++;
  }
  const done = { imported: taken.length, disabled: Math.max(0, taken.length - mostEnabled), rows };
  if (taken.length === 0) return done;
  await table.transact([
    ...othersOf(done),
    ...new Map(taken.map(({ check }) => [rowOf(check), check])).values(),
    ...taken.flatMap(({ found }) => found),
    ...emails.writes(
      org,
      taken.map(({ email }) => email),
    ),
  ]);
  return done;
};

/** The import's entry in the activity log. */
const entryWrites = (
  org: number,
  slot: Reserved,
  earlier: Progress,
  done: Progress,
  actor: Actor,
): Write[] => {
  const summary = summaryOf({
    imported: earlier.imported + done.imported,
    disabled: earlier.disabled + done.disabled,
  });
  return activity.counting(org, slot, earlier.imported > 0, { action: "emails.imported", summary, actor });
};

const summaryOf = ({ imported, disabled }: Progress): string =>
  `Imported ${imported} ${imported === 1 ? "email" : "emails"}${
    disabled > 0 ? `, ${disabled} of them disabled beyond the seat allowance` : ""
  }`;
