import { isDeepStrictEqual } from "node:util";
import type { Actor } from "../../access/activity/actor.ts";
import { activeCount, asQuoted, enabledOf } from "../../access/billing/billing.ts";
import { Refusal } from "../../contract/errors.ts";
import { type Reserved, reserve } from "../../lists/blocks.ts";
import * as domains from "../domains/domain.ts";
import { additionOf, type Bulk, type EmailWrites, inBulk } from "../emails/changes.ts";
import * as teams from "../teams/team.ts";
import type { ImportPlan } from "./import-schema.ts";
import { monitoredOf, planned } from "./plan.ts";

type Imported = {
  /** Everything that was imported, including `disabledCount`. */
  importedCount: number;
  /** Imported as disabled, because the seat allowance was used up. */
  disabledCount: number;
  /** How many addresses of the plan were not imported. */
  skippedCount: number;
};

type Row = { email: string; domainId: number; ownerName?: string | undefined; team?: string | undefined };

/**
 * Imports the addresses that a preview marked `will_import`, as `importAll` does. After a crash half-way a
 * fresh preview shows the rest.
 *
 * Refuses `nothingToImport` when a fresh plan of the same addresses has nothing to import. Refuses
 * `quoteMismatch` when the fresh plan differs from the given one, also when another request is quicker.
 */
export const commit = async (org: number, given: ImportPlan, actor: Actor): Promise<Imported> => {
  const { plan: fresh, active } = await planned(org, given.emails);
  const wanted = fresh.emails.filter(({ status }) => status === "will_import");
  if (wanted.length === 0) throw new Refusal("nothingToImport");
  if (!isDeepStrictEqual(fresh, given)) throw new Refusal("quoteMismatch");

  const done = await importAll(
    org,
    wanted.map(({ domainId, ...row }) => {
      if (domainId === null) throw new Error("A row to import has no domain");
      return { ...row, domainId };
    }),
    actor,
    { quotedActive: active },
  );
  // Other requests have added all of the addresses since the fresh plan was made.
  if (done.imported === 0) throw new Refusal("nothingToImport");
  return {
    importedCount: done.imported,
    disabledCount: done.disabled,
    skippedCount: given.emails.length - done.imported,
  };
};

/** `imported` includes `disabled`: the e-mails beyond the seat allowance. */
type Total = { imported: number; disabled: number };

const totalOf = (done: readonly EmailWrites[]): Total => ({
  imported: done.length,
  disabled: done.filter((each) => each.seats === 0).length,
});

/**
 * Imports any number of different addresses of the organization's domains, in one transaction after another.
 * Skips addresses that are monitored by then, and addresses whose domain is not verified by then. Teams that
 * are missing by then are created first.
 *
 * The import has one entry in the activity log, whose count each transaction raises. So log, seats and lists
 * agree, wherever a crash ends the import.
 *
 * With `quotedActive`, refuses `quoteMismatch` before it imports, unless so many e-mails are active.
 */
export const importAll = async (
  org: number,
  rows: readonly Row[],
  actor: Actor,
  { quotedActive, ...options }: Pick<Bulk<Row, EmailWrites>, "quotedActive" | "progress"> = {},
): Promise<Total> => {
  const reserved = await reserve(org, "EMAIL", rows.length);
  const done = await inBulk<Row & { reserved: Reserved }, EmailWrites>(org, {
    items: rows.map((row, index) => ({ ...row, reserved: reserved[index] as Reserved })),
    action: "emails.imported",
    summaryOf,
    actor,
    ...options,
    ...(quotedActive !== undefined && { quotedActive }),
    writesOf: async (some, owner, { isFirst }) => {
      const [{ billing }, active, domainsById, monitored] = await Promise.all([
        owner,
        activeCount(org),
        domains.getMany(
          org,
          some.map(({ domainId }) => domainId),
        ),
        monitoredOf(
          org,
          some.map(({ email }) => email),
        ),
      ]);
      const wanted = some.map((row) => {
        const domain = domainsById.get(row.domainId);
        return domain?.verified === true && !monitored.has(row.email) ? { ...row, domain } : undefined;
      });
      const teamIds = await teams.forNames(
        org,
        wanted.flatMap((row) => row?.team ?? []),
        actor,
        isFirst && quotedActive !== undefined ? [asQuoted(org, quotedActive)] : [],
      );
      let room = enabledOf(billing, active, some.length);
      return wanted.map((row) => {
        if (row === undefined) return undefined;
        const { email, domain, ownerName = null, team, reserved } = row;
        const isActive = room > 0;
        if (isActive) room--;
        const teamId = team === undefined ? null : (teamIds.get(teams.comparable(team)) ?? null);
        return additionOf(org, reserved, { email, ownerName, teamId, isActive }, domain);
      });
    },
  });
  return totalOf(done);
};

const summaryOf = (done: readonly EmailWrites[]): string => {
  const { imported, disabled } = totalOf(done);
  return `Imported ${imported} ${imported === 1 ? "address" : "addresses"}${
    disabled > 0 ? `, ${disabled} of them disabled beyond the seat allowance` : ""
  }`;
};
