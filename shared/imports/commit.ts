import { isDeepStrictEqual } from "node:util";
import { categoryOf } from "../activity/actions.ts";
import * as activity from "../activity/activity.ts";
import { Refusal } from "../api/errors.ts";
import { seats } from "../billing/billing.ts";
import { activeCount, enabledOf } from "../billing/quote.ts";
import { emails, newEmailRow } from "../emails/record.ts";
import type { Actor } from "../organizations/actor.ts";
import * as domains from "../organizations/domain.ts";
import * as organizations from "../organizations/organization.ts";
import { retrying } from "../table/attempts.ts";
import { type Reserved, reserve } from "../table/blocks.ts";
import { absent, type Write } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { monitoredOf, plan } from "./plan.ts";
import type { ImportPlan } from "./schema.ts";

export type Imported = {
  importedCount: number;
  /** Of those imported: disabled, since the seat allowance was used up. */
  disabledCount: number;
  /** Rows that were not imported. */
  skippedCount: number;
};

type Row = { email: string; domainId: number; ownerName: string | null };

/** A row that is to be imported, and the id it gets. */
type Pending = Row & { reserved: Reserved };

/**
 * Imports what a preview said would be imported, in bounded transactions one after the other. Each is whole and tells the
 * import's one entry of the activity log how many there are by now, so that after a crash half-way everything counts what
 * is there; a fresh preview has the rest. Addresses that are taken, and domains that cease to be verified meanwhile, are
 * skipped.
 *
 * Refuses `nothingToImport` when a fresh plan of the same addresses has nothing to import, `quoteMismatch` when it differs
 * from the given one.
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
  // All were taken since they were planned.
  if (done.imported === 0) throw new Refusal("nothingToImport");
  return {
    importedCount: done.imported,
    disabledCount: done.disabled,
    skippedCount: given.emails.length - done.imported,
  };
};

/**
 * Imports any number of addresses of the organization's domains, each named once, in bounded transactions one after the
 * other, with one entry in the activity log. Skips what is monitored already, and domains that are not verified.
 */
export const importAll = async (
  org: number,
  rows: readonly Row[],
  actor: Actor,
  progress: (rows: number) => void = () => {},
): Promise<Progress> => {
  const [reserved, slot] = await Promise.all([reserve(org, "EMAIL", rows.length), activity.slot(org)]);
  const pending = rows.map((row, index): Pending => ({ ...row, reserved: reserved[index] as Reserved }));
  const sofar: Progress = { imported: 0, disabled: 0 };
  let gone = 0;
  for (const chunk of chunksOf(pending)) {
    const done = await retrying(() => importChunk(org, chunk, sofar, slot, actor));
    sofar.imported += done.imported;
    sofar.disabled += done.disabled;
    gone += chunk.length;
    progress(gone);
  }
  return sofar;
};

/** `disabled`: of those imported, since the seat allowance was used up. */
export type Progress = { imported: number; disabled: number };

/** A transaction takes 100 writes: those of the rows and these others, of the seats and of the activity log. */
const writesForRows = 100 - 1 - 2;

/** Cuts the rows into runs that fit into one transaction with the checks of their domains and their blocks' counters. */
const chunksOf = (pending: readonly Pending[]): Pending[][] => {
  const chunks: Pending[][] = [];
  let chunk: Pending[] = [];
  for (const row of pending) {
    const grown = [...chunk, row];
    const others = new Set(grown.flatMap(({ domainId, reserved }) => [`domain ${domainId}`, reserved.block]));
    if (2 * grown.length + others.size <= writesForRows) {
      chunk = grown;
    } else {
      chunks.push(chunk);
      chunk = [row];
    }
  }
  return [...chunks, chunk];
};

/** Imports those of the rows that still can be. What changes between its reads and its write makes it refused. */
const importChunk = async (
  org: number,
  chunk: readonly Pending[],
  sofar: Progress,
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
    ...entry(org, slot, sofar, done, actor),
  ]);
  return done;
};

/** Logs the import with its first rows; further ones move the count that it tells. */
const entry = (org: number, slot: Reserved, sofar: Progress, done: Progress, actor: Actor): Write[] => {
  const summary = summaryOf({
    imported: sofar.imported + done.imported,
    disabled: sofar.disabled + done.disabled,
  });
  const action = "emails.imported";
  if (sofar.imported === 0) return activity.writes(org, slot, { action, summary, actor });
  const from = { category: categoryOf[action] };
  return activity.entries.writes(org, [activity.entries.change(org, slot.id, { from, set: { summary } })]);
};

const summaryOf = ({ imported, disabled }: Progress): string =>
  `Imported ${imported} ${imported === 1 ? "email" : "emails"}${
    disabled > 0 ? `, ${disabled} of them disabled beyond the seat allowance` : ""
  }`;
