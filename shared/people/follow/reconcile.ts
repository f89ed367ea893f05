/** Makes addresses what directories say of them, in one transaction for as many as fit. */
import { randomUUID } from "node:crypto";
import { service } from "../../access/activity/actor.ts";
import { enabledOf, seats } from "../../access/billing/billing.ts";
import { TransactionBudget } from "../../aws/table/budget.ts";
import { rowOf, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { domainOf } from "../../contract/address.ts";
import * as rules from "../../findings/rules/marks.ts";
import { reserve } from "../../lists/blocks.ts";
import { type EmailWrites, sum, transactionOf } from "../../monitoring/emails/changes.ts";
import { emails } from "../../monitoring/emails/record.ts";
import * as teams from "../../monitoring/teams/team.ts";
import { type Decision, decide, type Said, saidOf } from "./address.ts";
import { type Deed, logWrites } from "./log.ts";
import { knownOf, type Look, lookAt, teamsBy } from "./look.ts";
import { outcomeOf } from "./outcome.ts";
import { domainWrites, OutsideDomains } from "./outside.ts";
import { task } from "./task.ts";

/** More than a transaction takes. */
const mostAtOnce = 12;

/**
 * Makes these addresses what directories say of them, and ends their tasks. `mayTakeSeats`: of addresses that
 * have waited longest; others wait behind them.
 */
export const reconcile = async (
  org: number,
  addresses: readonly string[],
  { mayTakeSeats = false } = {},
): Promise<void> => {
  let left = [...new Set(addresses)];
  while (left.length > 0) {
    const taken = await withOptimisticRetry(() => takeFirst(org, left.slice(0, mostAtOnce), mayTakeSeats));
    left = left.slice(taken);
  }
};

/** Deals with as many of the first as fit into one transaction, and returns how many these are. */
const takeFirst = async (
  org: number,
  addresses: readonly string[],
  mayTakeSeats: boolean,
): Promise<number> => {
  const known = await knownOf(org);
  const looks = await Promise.all(addresses.map((email) => lookAt(org, email, known)));
  const teamOf = await teamsBy(org, looks);
  const now = new Date().toISOString();
  const decided = looks.map((look) => {
    const said = saidOf(look.namings, look.watched?.person, teamOf, now);
    return { look, said, decision: decisionOf(look, said) };
  });
  const teamIds = await teams.forNames(
    org,
    decided.flatMap(({ decision }) => decision.team ?? []),
    service,
  );
  const added = decided.filter(({ decision }) => decision.add === true);
  const reserved = await reserve(org, "EMAIL", added.length);
  let room =
    known.isWaitedFor && !mayTakeSeats
      ? 0
      : enabledOf(known.organization.billing, known.active, addresses.length);

  const outside = new Map<number, number>();
  const outsideDomains = new OutsideDomains();
  const deeds: Deed[] = [];
  const writes: EmailWrites[] = [];
  const also: Write[] = [];
  const mark = randomUUID();
  // The log and its entry, the seats, and counters of e-mails and of breached ones.
  const budget = new TransactionBudget([
    { update: keys.directoryLog(org) },
    { update: keys.seats(org) },
    ...Array.from({ length: 4 }, (_, index): Write => ({ delete: { pk: "reserved", sk: String(index) } })),
  ]);
  let taken = 0;
  let waits = known.isWaitedFor;
  let isRechecked = false;
  for (const { look, said, decision } of decided) {
    const outcome = outcomeOf(org, look, said, decision, {
      teamId: (name) => teamIds.get(teams.comparable(name)) ?? null,
      reserved: reserved[added.findIndex((each) => each.look === look)],
      hasRoom: room > 0,
      now,
    });
    const begins = outcome.waits && !waits ? [task(org, "SEATS", "first")] : [];
    const own = [...outcome.also, ...begins];
    const counters = [...outcome.outside.keys()].map(
      (directory): Write => ({ update: keys.outsideDomain(org, directory, domainOf(look.email)) }),
    );
    const ofEmail = outcome.email ? transactionOf(org, [outcome.email]) : [];
    if (!budget.take([...own, ...counters, ...ofEmail])) break;
    taken++;
    also.push(...own);
    deeds.push(...outcome.deeds);
    if (outcome.waits) waits = true;
    if (outcome.isRechecked) isRechecked = true;
    if (outcome.email) {
      writes.push(outcome.email);
      room -= Math.max(0, outcome.email.seats);
    }
    for (const [directory, by] of outcome.outside) {
      outside.set(directory, (outside.get(directory) ?? 0) + by);
      outsideDomains.add(directory, domainOf(look.email), by);
    }
  }
  const seatsTaken = sum(writes.map((each) => each.seats));
  await table.transact([
    ...distinct([...transactionOf(org, writes), ...also]),
    ...(seatsTaken === 0 ? [] : [seats(org, seatsTaken, known.organization.billing)]),
    ...(await logWrites(org, known.log, deeds, outside, mark)),
    ...(await domainWrites(org, outsideDomains)),
  ]);
  if (isRechecked) await rules.wake(org);
  return Math.max(1, taken);
};

const distinct = (writes: readonly Write[]): Write[] => [
  ...new Map(writes.map((write) => [rowOf(write), write])).values(),
];

const decisionOf = (
  { namings, isForgotten, row, watched, domain }: Look,
  said: Said | undefined,
): Decision => {
  // E-mails of a directory that was disconnected stay as they are.
  if (said === undefined && isForgotten) return { named: {} };
  // Nobody watches it, and nobody who is left names it: nothing needs to be known of it.
  if (watched === undefined && namings.every(({ person }) => person === undefined)) return { named: {} };
  const { isActive, ownerName, team, disabledHere, waitsSince } = row ?? {};
  const email = watched && { isActive: emails.groupOf(watched).isActive };
  return decide(
    said,
    {
      ...(isActive !== undefined && { isActive }),
      ...(ownerName !== undefined && { ownerName }),
      ...(team !== undefined && { team }),
      ...(disabledHere && { disabledHere }),
      ...(waitsSince !== undefined && { waitsSince }),
    },
    email,
    domain?.verified === true,
  );
};
