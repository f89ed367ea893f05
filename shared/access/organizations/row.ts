/**
 * Where an organization's row is: in a partition of its own or, until an operator's command moves it, in the one of earlier releases.
 * Each change is written to both rows, so that the earlier release can be deployed again (docs/decisions/0046-guarded-organizations.md).
 */
import { isDeepStrictEqual } from "node:util";
import {
  absent,
  always,
  asRead,
  type Change,
  type Condition,
  exists,
  type Write,
} from "../../aws/table/condition.ts";
import { dueShard, guardedAttributes, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { firstVersion, NewerVersion } from "../../contract/version.ts";
import type { Organization } from "./organization.ts";

export type Found = { organization: Organization; isGuarded: boolean };

export const find = async (org: number): Promise<Found | undefined> => {
  const row = await table.get<Organization>(keys.organization(org));
  const organization = row ?? (await table.get<Organization>(keys.unguardedOrganization(org)));
  return organization && { organization, isGuarded: row !== undefined };
};

/** Throws if the organization does not exist. */
export const findExisting = async (org: number): Promise<Found> => {
  const found = await find(org);
  if (found === undefined) throw new Error(`Organization ${org} does not exist`);
  return found;
};

/** The organizations in the order of `orgs`: `rows` that the caller has read, and the others from where earlier releases keep them. */
export const orUnguarded = async (
  orgs: readonly number[],
  rows: readonly (Organization | undefined)[],
): Promise<(Organization | undefined)[]> => {
  const missing = orgs.filter((_, index) => rows[index] === undefined);
  if (missing.length === 0) return [...rows];
  const found = await table.getMany<Organization>(missing.map(keys.unguardedOrganization));
  const unguarded = new Map(missing.map((org, index) => [org, found[index]]));
  return orgs.map((org, index) => rows[index] ?? unguarded.get(org));
};

/** The writes that change an organization as it was found, on a condition on its row. */
export const changing = (org: number, { isGuarded }: Pick<Found, "isGuarded">, given: Change): Write[] =>
  isGuarded
    ? [
        { update: keys.organization(org), ...given },
        // Functions that may write the former row cannot stop the change by deleting it or by its version.
        { update: keys.unguardedOrganization(org), ...given, version: firstVersion, if: always },
      ]
    : [
        { check: keys.organization(org), if: absent },
        { update: keys.unguardedOrganization(org), ...given },
      ];

/** Changes an organization for an operator, and moves its row. Throws if the organization does not exist. */
export const change = (org: number, set: Record<string, unknown>): Promise<void> =>
  withOptimisticRetry(async () => {
    const { organization, isGuarded } = await findExisting(org);
    await table.transact(
      isGuarded ? changing(org, { isGuarded }, { set, if: exists }) : moving(org, organization, set),
    );
  });

/** The writes that move a row as it was read, with or without changes. */
const moving = (org: number, row: Organization, set?: Record<string, unknown>): Write[] => {
  const unguarded = keys.unguardedOrganization(org);
  const isUnchanged = isAsRead(row, ["name", ...guarded]);
  return [
    { put: { ...row, ...set, ...keys.organization(org) }, if: absent },
    set === undefined ? { check: unguarded, if: isUnchanged } : { update: unguarded, set, if: isUnchanged },
  ];
};

/** What most roles may not name in a write, wherever the row is. */
const guarded = Object.values(guardedAttributes).flat() as readonly (keyof Organization)[];

/** What marks an organization as being deleted. The deletion is due at once, even if this machine's clock is ahead. */
export const deletion = (org: number) => ({
  deleting: true,
  dueShard: dueShard("DELETION", org),
  dueAt: new Date(0).toISOString(),
});

/** `otherName`: the name and the one in the former row, where they differ. */
export type Guarding = {
  outcome: "moved" | "taken over" | "rewritten" | "unchanged";
  otherName?: { name: string; formerName: string };
};

/**
 * Moves an organization's row to its own partition. If it was moved already, copies the guarded attributes that a rolled-back
 * release changed in the former row, and only reports a changed name, because any function may write it there. A former row
 * that the rolled-back release could not use is written anew.
 */
export const guard = (org: number): Promise<Guarding> =>
  withOptimisticRetry(async () => {
    const row = await table.get<Organization>(keys.organization(org));
    if (row === undefined) {
      const former = await table.get<Organization>(keys.unguardedOrganization(org));
      if (former === undefined) return { outcome: "unchanged" };
      await table.transact(moving(org, former));
      return { outcome: "moved" };
    }
    const former = await usableFormer(org);
    if (former === undefined) {
      // Its deletion removes the former row first.
      if (row.deleting === true) return { outcome: "unchanged" };
      await table.transact([
        { check: keys.organization(org), if: isAsRead(row, ["name", ...guarded]) },
        { put: { ...row, ...keys.unguardedOrganization(org) }, if: always },
      ]);
      return { outcome: "rewritten" };
    }
    // The wait of a deletion that the other release began starts anew in this row.
    const changed = guarded.filter(
      (name) =>
        name !== "deletingSince" && former[name] !== undefined && !isDeepStrictEqual(former[name], row[name]),
    );
    if (changed.length > 0) {
      const set = Object.fromEntries(changed.map((name) => [name, former[name]]));
      await table.transact([
        {
          update: keys.organization(org),
          set: { ...set, ...(changed.includes("deleting") && deletion(org)) },
          if: isAsRead(row, changed),
        },
        { check: keys.unguardedOrganization(org), if: isAsRead(former, changed) },
      ]);
    }
    return {
      outcome: changed.length > 0 ? "taken over" : "unchanged",
      ...(former.name !== row.name && { otherName: { name: row.name, formerName: former.name } }),
    };
  });

/** The former row, unless it is gone or a release before could not read it, which a function can bring about. */
const usableFormer = async (org: number): Promise<Organization | undefined> => {
  try {
    const former = await table.get<Organization>(keys.unguardedOrganization(org));
    return former?.billing === undefined ? undefined : former;
  } catch (error) {
    if (error instanceof NewerVersion) return undefined;
    throw error;
  }
};

const isAsRead = (row: Organization, names: readonly (keyof Organization)[]): Condition =>
  asRead(Object.fromEntries(names.map((name) => [name, row[name]])));
