/** Changes of monitored e-mails: the writes of each, and changes of many at once. */
import { isDeepStrictEqual } from "node:util";
import type { Action } from "../../access/activity/actions.ts";
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { activeCount, enabledOf, quotedSeats, seats } from "../../access/billing/billing.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { TransactionBudget } from "../../aws/table/budget.ts";
import { absent, allOf, asRead, condition, rowOf, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import * as counts from "../../counts/counts.ts";
import type { Reserved } from "../../lists/blocks.ts";
import type { MemberWrite } from "../../lists/member-writes.ts";
import * as domains from "../domains/domain.ts";
import { lastScannedAt, markEmails } from "../domains/own-checks.ts";
import * as teams from "../teams/team.ts";
import { type Email, emails, isBreached, newEmailRow, ofHand, type Person } from "./record.ts";
import { ownerWordWrites } from "./search.ts";

/** The writes that add an e-mail. `reserved`: its id. */
export const additionOf = (
  org: number,
  reserved: Reserved,
  added: {
    email: string;
    ownerName: string | null;
    teamId: number | null;
    isActive: boolean;
    named?: Named | undefined;
  },
  domain: domains.Domain,
): EmailWrites => {
  const { email, ownerName, teamId, isActive, named } = added;
  const { id } = reserved;
  const domainId = domain.id;
  return {
    email: emails.put(
      org,
      reserved,
      { domainId, teamId, isActive, ...ofHand, ...(named && groupOf(named)) },
      { ...newEmailRow(added, domain), ...(named?.person && { person: named.person }) },
    ),
    also: [
      { put: { ...keys.address(org, email), emailId: id, domainId }, if: absent },
      domains.unchanged(org, domain),
      ...ownerWordWrites(org, { id, domainId, ownerName }, null),
      ...(teamId === null ? [] : [teams.isThere(org, teamId)]),
    ],
    seats: isActive ? 1 : 0,
    breachedEmails: 0,
  };
};

/** What directories say of an address. `directoryId` null: none names it any more. */
export type Named = { directoryId: number | null; person: Person | undefined };

const groupOf = ({ directoryId, person }: Named) => ({ directoryId, hasLeft: person?.leftAt !== undefined });

/** What an e-mail is to be; a missing field stays. null: no team, no owner. */
type EmailChange = {
  named?: Named | undefined;
  isActive?: boolean | undefined;
  teamId?: number | null | undefined;
  ownerName?: string | null | undefined;
};

/** What a transaction does to one e-mail. */
export type EmailWrites = {
  email: MemberWrite;
  /** Rows that belong to it. The same check may be made for several e-mails. */
  also: Write[];
  /** By how much the taken seats change. */
  seats: number;
  /** By how much the number of active e-mails with a finding changes. */
  breachedEmails: number;
  /** It may have a last check of its own from now on. */
  ownCheckedId?: number;
};

/** The writes that remove an e-mail, as long as its findings and its owner's name are as in `row`. */
export const removalOf = (org: number, row: Email): EmailWrites => {
  const { id, email: address, findings, ownerName } = row;
  const from = emails.groupOf(row);
  const by = from.isActive ? -1 : 0;
  return {
    email: emails.delete(org, id, from, asRead({ findings, ownerName })),
    also: [
      { delete: keys.address(org, address) },
      ...ownerWordWrites(org, { id, domainId: from.domainId, ownerName: null }, ownerName),
    ],
    seats: by,
    breachedEmails: isBreached(row) ? by : 0,
  };
};

type ChangeWrites = EmailWrites & { address: string };

/**
 * The writes that make an e-mail as `set` says; undefined if it is so already. `domain`: needed to enable or
 * disable it.
 */
export const changeOf = (
  org: number,
  row: Email,
  set: EmailChange,
  domain: domains.Domain | undefined,
): ChangeWrites | undefined => {
  const { id, email: address } = row;
  const from = emails.groupOf(row);
  const { isActive = from.isActive, teamId = from.teamId } = set;
  const ownerName = set.ownerName === undefined ? row.ownerName : set.ownerName || null;
  const isRenamed = ownerName !== row.ownerName;
  const isSwitched = isActive !== from.isActive;
  const to = { ...from, isActive, teamId, ...(set.named && groupOf(set.named)) };
  const isNamed = set.named !== undefined && !isDeepStrictEqual(set.named.person, row.person);
  if (!isRenamed && !isNamed && isDeepStrictEqual(from, to)) return undefined;
  const by = isSwitched ? (isActive ? 1 : -1) : 0;
  return {
    address,
    email: emails.change(org, id, {
      from,
      to,
      set: {
        ...(isRenamed && { ownerName }),
        ...(isSwitched && switchOf(row, isActive, domain)),
        ...(isNamed && { person: set.named?.person }),
      },
      ...(isNamed && set.named?.person === undefined && { remove: ["person"] }),
      if: allOf(
        isRenamed ? asRead({ ownerName: row.ownerName }) : undefined,
        isSwitched
          ? condition(
              "#afterScan = :afterScan AND #lastScannedAt = :lastScannedAt AND #findings = :findings",
              { afterScan: row.afterScan, lastScannedAt: row.lastScannedAt, findings: row.findings },
            )
          : undefined,
      ),
    }),
    also: [
      ...(isSwitched && domain ? [domains.unchanged(org, domain)] : []),
      ...(teamId === null || teamId === from.teamId ? [] : [teams.mustExist(org, teamId)]),
      ...(isRenamed ? ownerWordWrites(org, { id, domainId: from.domainId, ownerName }, row.ownerName) : []),
    ],
    seats: by,
    breachedEmails: isBreached(row) ? by : 0,
    ...(by < 0 && { ownCheckedId: id }),
  };
};

/**
 * Scans in progress leave out an e-mail that is enabled. Later checks of its domain do not count for one that
 * is disabled.
 */
const switchOf = (row: Email, isActive: boolean, domain: domains.Domain | undefined) => {
  if (domain === undefined) throw new Error("Enabling or disabling an e-mail needs its domain");
  return isActive ? { afterScan: domain.plannedByScan } : { lastScannedAt: lastScannedAt(row, domain) };
};

/** The writes of a transaction that changes e-mails, besides their seats. */
export const transactionOf = (org: number, all: readonly EmailWrites[]): Write[] => {
  const also = all.flatMap((each) => each.also);
  return [
    ...new Map(also.map((write) => [rowOf(write), write])).values(),
    ...emails.writes(
      org,
      all.map(({ email }) => email),
    ),
    ...markEmails(
      org,
      all.flatMap(({ ownCheckedId = [] }) => ownCheckedId),
    ),
    ...counts.writes(org, { breachedEmails: sum(all.map((each) => each.breachedEmails)) }),
  ];
};

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

export type Bulk<Item, Writes extends EmailWrites> = {
  items: readonly Item[];
  action: Action;
  /** The log entry when this is done. */
  summaryOf: (done: readonly Writes[]) => string;
  actor: Actor;
  /**
   * The writes of each of these items, in their order, undefined where there is nothing to do. `isRetry`: a
   * row that they were made from has changed since. `isFirst`: nothing is done yet. Throws refusals.
   */
  writesOf: (
    items: readonly Item[],
    owner: Promise<organizations.Organization>,
    about: { isRetry: boolean; isFirst: boolean },
  ) => Promise<(Writes | undefined)[]>;
  /**
   * How many e-mails were active when this was quoted. The first transaction refuses `quoteMismatch` unless
   * they still are.
   */
  quotedActive?: number;
  /** Is called after each transaction with the number of items dealt with. */
  progress?: (items: number) => void;
};

/** More items than a transaction takes, since each of them needs several writes. */
const itemsAtOnce = table.maxTransactionWrites / 2;

/**
 * Adds, changes or removes many e-mails, in one transaction after another, and returns what was done. Each
 * transaction also changes the summary of their one log entry. So the log is right even if the process dies
 * in between.
 */
export const inBulk = async <Item, Writes extends EmailWrites>(
  org: number,
  { items, action, summaryOf, actor, writesOf, quotedActive, progress = () => {} }: Bulk<Item, Writes>,
): Promise<Writes[]> => {
  const reserved = activity.slot(org);
  const done: Writes[] = [];
  let dealtWith = 0;
  /** Deals with as many of the first items as fit into one transaction. */
  const takeFirst = async (isRetry: boolean): Promise<void> => {
    const first = items.slice(dealtWith, dealtWith + itemsAtOnce);
    const owner = organizations.existing(org);
    const isFirst = done.length === 0;
    const [writes, { billing }, slot] = await Promise.all([
      writesOf(first, owner, { isRetry, isFirst }),
      owner,
      reserved,
    ]);
    const entryOf = (taken: readonly Writes[]): Write[] =>
      activity.counting(org, slot, !isFirst, {
        action,
        summary: summaryOf([...done, ...taken]),
        actor,
      });
    const budget = new TransactionBudget([...entryOf([]), seats(org, -1, billing)]);
    const isOver = (each?: Writes) => each !== undefined && !budget.take(transactionOf(org, [each]));
    const end = writes.findIndex(isOver);
    const taken = (end < 0 ? writes : writes.slice(0, end)).filter((each) => each !== undefined);
    const seatsTaken = sum(taken.map((each) => each.seats));
    if (taken.length > 0) {
      const isQuoted = isFirst && quotedActive !== undefined;
      await table.transact([
        ...transactionOf(org, taken),
        ...(isQuoted ? [quotedSeats(org, seatsTaken, billing, quotedActive)] : []),
        ...(isQuoted || seatsTaken === 0 ? [] : [seats(org, seatsTaken, billing)]),
        ...entryOf(taken),
      ]);
    }
    done.push(...taken);
    dealtWith += end < 0 ? first.length : end;
  };
  while (dealtWith < items.length) {
    let tries = 0;
    await withOptimisticRetry(() => takeFirst(tries++ > 0));
    progress(dealtWith);
  }
  return done;
};

/**
 * `inBulk` for e-mails by their ids. Refuses `emailNotFound` before anything is done. Each e-mail is read
 * once, and again only if another request changed one of its transaction.
 */
export const inBulkById = async <Writes extends EmailWrites>(
  org: number,
  { ids: given, writesOf, ...bulk }: Omit<Bulk<Email, Writes>, "items"> & { ids: readonly number[] },
): Promise<{ done: Writes[]; skipped: number }> => {
  const ids = [...new Set(given)];
  const rows = await emails.getMany(org, ids);
  if (rows.includes(undefined)) throw new Refusal("emailNotFound");
  const asRead = new Map(ids.map((id, index) => [id, rows[index]]));
  const done = await inBulk(org, {
    ...bulk,
    items: ids,
    writesOf: async (some, owner, about) => {
      const read = about.isRetry ? await emails.getMany(org, some) : some.map((id) => asRead.get(id));
      const existing = read.filter((row) => row !== undefined);
      const writes = await writesOf(existing, owner, about);
      const byId = new Map(existing.map(({ id }, index) => [id, writes[index]]));
      return some.map((id) => byId.get(id));
    },
  });
  return { done, skipped: ids.length - done.length };
};

/**
 * Makes many e-mails as `set` says. Skips e-mails that are so already. Enables none of an unverified domain,
 * and none beyond the seat allowance. Refuses `emailNotFound` and `teamNotFound`.
 */
export const changeMany = async (
  org: number,
  ids: readonly number[],
  set: EmailChange,
  actor: Actor,
  logged?: Pick<Bulk<Email, ChangeWrites>, "action" | "summaryOf">,
): Promise<{ changed: number; skipped: number }> => {
  const { teamId, isActive } = set;
  const team = teamId == null ? undefined : await teams.get(org, teamId);
  if (teamId != null && team === undefined) throw new Refusal("teamNotFound");
  const existing = teamId === null ? new Set((await teams.list(org)).map(({ id }) => id)) : undefined;
  const words = [
    ...(isActive === undefined ? [] : [isActive ? "enabled" : "disabled"]),
    ...(teamId === undefined ? [] : [team === undefined ? "no team" : `team ${team.name}`]),
    ...(set.ownerName === undefined ? [] : [set.ownerName ? "another owner" : "no owner"]),
  ];
  const { done, skipped } = await inBulkById<ChangeWrites>(org, {
    ids,
    action: "emails.updated",
    summaryOf: ({ length }) =>
      `Changed ${length} ${length === 1 ? "address" : "addresses"}: ${words.join(", ")}`,
    ...logged,
    actor,
    writesOf: async (rows, owner) => {
      const [{ billing }, active, domainsById] = await Promise.all([
        owner,
        activeCount(org),
        domains.getMany(
          org,
          rows.map((row) => emails.groupOf(row).domainId),
        ),
      ]);
      let room = enabledOf(billing, active, rows.length);
      return rows.map((row) => {
        const group = emails.groupOf(row);
        const domain = domainsById.get(group.domainId);
        // An e-mail of a team that was deleted is in none already.
        const isInNone = existing?.has(group.teamId ?? 0) === false;
        const writes = changeOf(org, row, isInNone ? { ...set, teamId: undefined } : set, domain);
        if (writes === undefined || writes.seats <= 0) return writes;
        if (domain?.verified !== true || room === 0) return undefined;
        room--;
        return writes;
      });
    },
  });
  return { changed: done.length, skipped };
};

/**
 * Gives an e-mail to a team and an owner; a missing field stays, null takes away. A call that changes nothing
 * succeeds and is not logged. Refuses `emailNotFound`, `teamNotFound`.
 */
export const assign = async (
  org: number,
  id: number,
  set: Omit<EmailChange, "isActive">,
  actor: Actor,
): Promise<void> => {
  await changeMany(org, [id], set, actor, {
    action: "email.updated",
    summaryOf: ([changed]) => `Changed the team or owner of ${changed?.address}`,
  });
};
