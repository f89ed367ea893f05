/** Changes of monitored e-mails: the writes of each, and changes of many at once. */
import type { Action } from "../../access/activity/actions.ts";
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { seats } from "../../access/billing/billing.ts";
import { activeCount, enabledOf } from "../../access/billing/quote.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { TransactionBudget } from "../../aws/table/budget.ts";
import { allOf, asRead, condition, type Write } from "../../aws/table/condition.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { rowOf } from "../../aws/table/transaction.ts";
import { Refusal } from "../../contract/errors.ts";
import type { Reserved } from "../../lists/blocks.ts";
import * as counts from "../../lists/counts.ts";
import type { MemberWrite } from "../../lists/member-writes.ts";
import type { PersonChange } from "../../lists/news.ts";
import * as domains from "../domains/domain.ts";
import { noteEmails } from "../domains/own-checks.ts";
import * as teams from "../teams/team.ts";
import { type Email, emails, isBreached } from "./record.ts";
import { ownerWordWrites } from "./search.ts";
import { lastScannedAt } from "./watermark.ts";

/** What an e-mail is to be; what is left out stays. null: no team, no owner. */
export type EmailChange = {
  isActive?: boolean | undefined;
  teamId?: number | null | undefined;
  ownerName?: string | null | undefined;
};

/** What a transaction does to one e-mail. */
export type EmailWrites = {
  email: MemberWrite;
  /** Rows that belong to it. The same check may be made for several e-mails. */
  others: Write[];
  /** By how much the taken seats change. */
  seats: number;
  /** By how much the number of active e-mails with a finding changes. */
  breachedEmails: number;
  /** As of counts. */
  people?: readonly PersonChange[];
  /** It may have a last check of its own from now on. */
  isNoted?: number;
};

/** The writes that make an e-mail as `set` says; undefined if it is so already. `domain`: needed to enable or disable it. */
export const changeOf = (
  org: number,
  row: Email,
  set: EmailChange,
  domain: domains.Domain | undefined,
): EmailWrites | undefined => {
  const { id } = row;
  const from = emails.groupOf(row);
  const { isActive = from.isActive, teamId = from.teamId, ownerName = row.ownerName } = set;
  const isRenamed = ownerName !== row.ownerName;
  const isSwitched = isActive !== from.isActive;
  if (!isRenamed && !isSwitched && teamId === from.teamId) return undefined;
  const switched = isSwitched ? switchOf(row, isActive, domain) : undefined;
  const by = isSwitched ? (isActive ? 1 : -1) : 0;
  return {
    email: emails.change(org, id, {
      from,
      to: { ...from, isActive, teamId },
      set: { ...(isRenamed && { ownerName }), ...switched },
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
    others: [
      ...(isSwitched && domain ? [domains.unchanged(org, domain)] : []),
      ...(teamId === null || teamId === from.teamId ? [] : [teams.mustExist(org, teamId)]),
      ...(isRenamed ? ownerWordWrites(org, { id, domainId: from.domainId, ownerName }, row.ownerName) : []),
    ],
    seats: by,
    breachedEmails: isBreached(row) ? by : 0,
    ...(by < 0 && { isNoted: id }),
  };
};

/** Enabled: scans in progress leave it out. Disabled: its domain's later checks do not count for it. */
const switchOf = (row: Email, isActive: boolean, domain: domains.Domain | undefined) => {
  if (domain === undefined) throw new Error("Enabling or disabling an e-mail needs its domain");
  return isActive ? { afterScan: domain.plannedByScan } : { lastScannedAt: lastScannedAt(row, domain) };
};

/** The writes of a transaction that changes e-mails, besides their seats. */
export const transactionOf = (org: number, all: readonly EmailWrites[]): Write[] => {
  const others = all.flatMap((each) => each.others);
  return [
    ...new Map(others.map((write) => [rowOf(write), write])).values(),
    ...emails.writes(
      org,
      all.map(({ email }) => email),
    ),
    ...noteEmails(
      org,
      all.flatMap(({ isNoted = [] }) => isNoted),
    ),
    ...counts.writes(org, {
      breachedEmails: sum(all.map((each) => each.breachedEmails)),
      people: all.flatMap(({ people = [] }) => people),
    }),
  ];
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

type Bulk = {
  ids: readonly number[];
  action: Action;
  /** The log entry when this many e-mails are changed. */
  summaryOf: (changed: number) => string;
  actor: Actor;
  /** The writes of each row, undefined where there is nothing to do; throws refusals. */
  writesOf: (
    rows: readonly Email[],
    owner: organizations.Organization,
  ) => Promise<(EmailWrites | undefined)[]>;
};

/** How many rows are read for one transaction: each of them needs a write of its own. */
const rowsAtOnce = table.maxTransactionWrites / 2;

/**
 * Changes many e-mails, in one transaction after another. They have one log entry, whose count each transaction raises, so that the log
 * agrees with what was done wherever it is cut off. Refuses `emailNotFound` before anything is changed. Gives the ids of those that
 * were changed.
 */
export const inBulk = async (org: number, bulk: Bulk): Promise<number[]> => {
  const ids = [...new Set(bulk.ids)];
  const [rows, slot] = await Promise.all([emails.getMany(org, ids), activity.slot(org)]);
  if (rows.includes(undefined)) throw new Refusal("emailNotFound");
  const changed: number[] = [];
  for (let left = ids; left.length > 0; ) {
    const done = await withOptimisticRetry(() => changeFirst(org, left, changed.length, slot, bulk));
    changed.push(...done.changed);
    left = left.slice(done.rows);
  }
  return changed;
};

/** Changes as many of the first as fit into one transaction. `rows`: how many it dealt with. */
const changeFirst = async (
  org: number,
  ids: readonly number[],
  before: number,
  slot: Reserved,
  { action, summaryOf, actor, writesOf }: Bulk,
): Promise<{ changed: number[]; rows: number }> => {
  const first = ids.slice(0, rowsAtOnce);
  const [owner, found] = await Promise.all([organizations.existing(org), emails.getMany(org, first)]);
  const rows = found.filter((row) => row !== undefined);
  const changes = await writesOf(rows, owner);
  const writes = new Map(rows.map(({ id }, at) => [id, changes[at]]));
  const entry = (changed: number): Write[] =>
    activity.counting(org, slot, before > 0, { action, summary: summaryOf(before + changed), actor });
  const budget = new TransactionBudget([...entry(rows.length), seats(org, -1, owner.billing)]);
  const taken = new Map<number, EmailWrites>();
  let dealtWith = 0;
  for (const id of first) {
    const each = writes.get(id);
    if (each !== undefined && !budget.take(transactionOf(org, [each]))) break;
    if (each !== undefined) taken.set(id, each);
    dealtWith++;
  }
  const all = [...taken.values()];
  const seatsTaken = sum(all.map((each) => each.seats));
  if (all.length > 0) {
    await table.transact([
      ...transactionOf(org, all),
      ...(seatsTaken === 0 ? [] : [seats(org, seatsTaken, owner.billing)]),
      ...entry(all.length),
    ]);
  }
  return { changed: [...taken.keys()], rows: dealtWith };
};

/**
 * Makes many e-mails as `set` says. Skips those that are so already, and enables no e-mail of a domain that is not verified or beyond
 * the seat allowance. Refuses `emailNotFound` and `teamNotFound`.
 */
export const changeMany = async (
  org: number,
  given: readonly number[],
  set: EmailChange,
  actor: Actor,
): Promise<{ changed: number; skipped: number }> => {
  const { teamId, isActive } = set;
  const team = teamId == null ? undefined : await teams.get(org, teamId);
  if (teamId != null && team === undefined) throw new Refusal("teamNotFound");
  const words = [
    ...(isActive === undefined ? [] : [isActive ? "enabled" : "disabled"]),
    ...(teamId === undefined ? [] : [team === undefined ? "no team" : `team ${team.name}`]),
    ...(set.ownerName === undefined ? [] : [set.ownerName === null ? "no owner" : "another owner"]),
  ];
  const writesOf: Bulk["writesOf"] = async (rows, owner) => {
    const [active, domainsById] = await Promise.all([
      activeCount(org),
      domains.getMany(
        org,
        rows.map((row) => emails.groupOf(row).domainId),
      ),
    ]);
    let room = enabledOf(owner.billing, active, rows.length);
    return rows.map((row) => {
      const domain = domainsById.get(emails.groupOf(row).domainId);
      const writes = changeOf(org, row, set, domain);
      if (writes === undefined || writes.seats <= 0) return writes;
      if (domain?.verified !== true || room === 0) return undefined;
      room--;
      return writes;
    });
  };
  const ids = new Set(given);
  const changed = await inBulk(org, {
    ids: [...ids],
    action: "emails.updated",
    summaryOf: (count) => `Changed ${count} ${count === 1 ? "email" : "emails"}: ${words.join(", ")}`,
    actor,
    writesOf,
  });
  return { changed: changed.length, skipped: ids.size - changed.length };
};
