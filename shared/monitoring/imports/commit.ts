import { isDeepStrictEqual } from "node:util";
import { categoryOf } from "../../access/activity/actions.ts";
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { seats } from "../../access/billing/billing.ts";
import { activeCount, enabledOf } from "../../access/billing/quote.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { absent, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { type Reserved, reserve } from "../../lists/blocks.ts";
import * as domains from "../domains/domain.ts";
import { emails, newEmailRow } from "../emails/record.ts";
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
  const pending = rows.map((row, index): Pending => ({ ...row, reserved: reserved[index] as Reserved }));
  const total: Progress = { imported: 0, disabled: 0 };
  let rowsDone = 0;
  for (const chunk of chunksOf(pending)) {
    const done = await withOptimisticRetry(() => importChunk(org, chunk, total, slot, actor));
    total.imported += done.imported;
    total.disabled += done.disabled;
    rowsDone += chunk.length;
    progress(rowsDone);
  }
  return total;
};

/** `imported` includes `disabled`: the e-mails beyond the seat allowance. */
export type Progress = { imported: number; disabled: number };

const seatWrites = 1;
/** The entry of the activity log, and its block's counters. */
const logWrites = 2;
/** The e-mail, and the row that keeps its address unique. */
const writesPerRow = 2;
const maxWritesForRows = table.maxTransactionWrites - seatWrites - logWrites;

/**
 * Cuts the rows into chunks that fit one transaction. Beside the writes of its rows a transaction checks each
 * of their domains once, and writes the counters of each of their blocks once.
 */
const chunksOf = (pending: readonly Pending[]): Pending[][] => {
  const chunks: Pending[][] = [];
  let chunk: Pending[] = [];
  for (const row of pending) {
    const grown = [...chunk, row];
    const shared = new Set(grown.flatMap(({ domainId, reserved }) => [`domain ${domainId}`, reserved.block]));
    if (writesPerRow * grown.length + shared.size <= maxWritesForRows) {
      chunk = grown;
    } else {
      chunks.push(chunk);
      chunk = [row];
    }
  }
  return [...chunks, chunk];
};

/**
 * Imports the rows that still can be imported. Throws `TransactionRefused` when something that it read has
 * changed before it writes. `earlier` is what earlier chunks of this import did.
 */
const importChunk = async (
  org: number,
  chunk: readonly Pending[],
  earlier: Progress,
  slot: Reserved,
  actor: Actor,
): Promise<Progress> => {
  const [owner, active, domainsById, monitored] = await Promise.all([
    organizations.existing(org),
    activeCount(org),
    domains.getMany(
      org,
      chunk.map(({ domainId }) => domainId),
    ),
    monitoredOf(
      org,
      chunk.map(({ email }) => email),
    ),
  ]);
  const rows = chunk.flatMap((row) => {
    const domain = domainsById.get(row.domainId);
    return domain?.verified === true && !monitored.has(row.email) ? [{ ...row, domain }] : [];
  });
  if (rows.length === 0) return { imported: 0, disabled: 0 };

  const enabled = enabledOf(owner.billing, active, rows.length);
  const done = { imported: rows.length, disabled: rows.length - enabled };
  await table.transact([
    ...(enabled > 0 ? [seats(org, enabled, owner.billing)] : []),
    ...new Map(
      rows.map(({ domain }) => [domain.id, domains.unchanged(org, domain, { mustBeVerified: true })]),
    ).values(),
    ...rows.map(({ email, reserved }) => ({
      put: { ...keys.address(org, email), emailId: reserved.id },
      if: absent,
    })),
    ...emails.writes(
      org,
      rows.map(({ email, ownerName, reserved, domain }, index) =>
        emails.put(
          org,
          reserved,
          { domainId: domain.id, teamId: null, isActive: index < enabled },
          newEmailRow({ email, ownerName }, domain),
        ),
      ),
    ),
    ...entryWrites(org, slot, earlier, done, actor),
  ]);
  return done;
};

/** Adds the import's entry to the activity log with the first rows, and changes its count with later ones. */
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
  const action = "emails.imported";
  if (earlier.imported === 0) return activity.writes(org, slot, { action, summary, actor });
  const from = { category: categoryOf[action] };
  return activity.entries.writes(org, [activity.entries.change(org, slot.id, { from, set: { summary } })]);
};

const summaryOf = ({ imported, disabled }: Progress): string =>
  `Imported ${imported} ${imported === 1 ? "email" : "emails"}${
    disabled > 0 ? `, ${disabled} of them disabled beyond the seat allowance` : ""
  }`;
