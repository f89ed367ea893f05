/** Makes addresses what directories say of them, in one transaction for as many as fit. */
import { randomUUID } from "node:crypto";
import { service } from "../../access/activity/actor.ts";
import { activeCount, enabledOf, seats } from "../../access/billing/billing.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { teamName as teamNameSchema } from "../../access/organizations/organization-schema.ts";
import { TransactionBudget } from "../../aws/table/budget.ts";
import { absent, asRead, rowOf, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { domainOf } from "../../contract/address.ts";
import * as rules from "../../findings/rules/marks.ts";
import { reserve } from "../../lists/blocks.ts";
import type { Domain } from "../../monitoring/domains/domain.ts";
import {
  additionOf,
  changeOf,
  type EmailWrites,
  sum,
  transactionOf,
} from "../../monitoring/emails/changes.ts";
import { ownerName as ownerNameSchema } from "../../monitoring/emails/email-schema.ts";
import { type Email, emails } from "../../monitoring/emails/record.ts";
import * as teams from "../../monitoring/teams/team.ts";
import * as directories from "../directory.ts";
import { groups } from "../group.ts";
import { people } from "../person.ts";
import { type Decision, decide, type NamedAddress, type Naming, saidOf } from "./address.ts";
import { type Deed, type DirectoryLog, logWrites } from "./log.ts";
import { readNamed } from "./named.ts";
import { domainWrites, OutsideDomains } from "./outside.ts";
import { done as doneWrite, keyOf, type Task, task } from "./task.ts";

/** More than a transaction takes. */
const mostAtOnce = 12;

/** How many changes a person's page shows. */
const mostHistory = 20;

type Known = {
  organization: organizations.Organization;
  connected: Map<number, directories.Directory>;
  log: DirectoryLog | undefined;
  isWaitedFor: boolean;
  active: number;
};

/** What is known of one address. */
type Look = {
  email: string;
  row: (NamedAddress & Key) | undefined;
  namings: Naming[];
  /** A directory that was disconnected has named it. */
  isForgotten: boolean;
  /** Names of people that nothing needs any more. */
  strays: Key[];
  task: Task | undefined;
  domain: Domain | undefined;
  watched: Email | undefined;
};

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
    const { namings, isForgotten, row, watched, domain } = look;
    const said = saidOf(namings, watched?.person, teamOf, now);
    const named = row ?? {};
    const email = watched && { isActive: emails.groupOf(watched).isActive, ownerName: watched.ownerName };
    // E-mails of a directory that was disconnected stay as they are.
    const decision: Decision =
      said === undefined && isForgotten
        ? { named: {} }
        : // Nobody watches it, and nobody who is left names it: nothing needs to be known of it.
          watched === undefined && namings.every(({ person }) => person === undefined)
          ? { named: {} }
          : decide(said, withoutMark(named), email, domain?.verified === true);
    return { look, said, decision };
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
    const outcome = writesOf(org, look, said, decision, {
      teamId: (name) => teamIds.get(teams.comparable(name)) ?? null,
      reserved: () => reserved[added.findIndex((each) => each.look === look)],
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

const withoutMark = ({ mark: _, history: __, ...named }: Partial<NamedAddress & Key>) => {
  const { pk: ___, sk: ____, ...rest } = named;
  return rest;
};

const knownOf = async (org: number): Promise<Known> => {
  const [organization, connected, log, waiting, active] = await Promise.all([
    organizations.existing(org),
    directories.rows(org),
    table.get<DirectoryLog>(keys.directoryLog(org)),
    table.get(keyOf(org, "SEATS", "first")),
    activeCount(org),
  ]);
  return {
    organization,
    connected: new Map(connected.map((each) => [each.id, each])),
    log,
    isWaitedFor: waiting !== undefined,
    active,
  };
};

const lookAt = async (org: number, email: string, { connected }: Known): Promise<Look> => {
  const name = domainOf(email);
  const [{ row, ofPeople }, ownTask, domainName, address] = await Promise.all([
    readNamed(org, email),
    table.get<Task>(keyOf(org, "ADDRESS", email)),
    table.get<{ id: number }>(keys.domainName(org, name)),
    table.get<{ emailId: number }>(keys.address(org, email)),
  ]);
  const named = ofPeople.flatMap(({ directoryId, personId, leftAt, name }) => {
    const directory = connected.get(directoryId);
    return directory === undefined ? [] : [{ directory, id: personId, leftAt, name }];
  });
  const [persons, domain, watched] = await Promise.all([
    people.getMany(
      org,
      named.map(({ id }) => id),
    ),
    domainName && table.get<Domain>(keys.domain(org, domainName.id)),
    address && emails.get(org, address.emailId),
  ]);
  return {
    email,
    row,
    namings: named.map(({ directory, leftAt, name }, index) => ({
      directory,
      person: persons[index],
      leftAt,
      name,
    })),
    isForgotten: named.length < ofPeople.length,
    // Without an e-mail there is no finding to explain by who left.
    strays: watched === undefined ? ofPeople.filter(({ leftAt }) => leftAt !== undefined) : [],
    task: ownTask,
    domain,
    watched,
  };
};

/** The team of a person, as its directory says where teams come from. */
const teamsBy = async (org: number, looks: readonly Look[]) => {
  const ids = looks.flatMap(({ namings }) =>
    namings.flatMap(({ directory, person }) =>
      directory.teamFrom === "group" ? [...(person?.groups ?? [])] : [],
    ),
  );
  const rows = await groups.getMany(org, [...new Set(ids)]);
  const names = new Map(
    rows.flatMap((row) => (row === undefined ? [] : [[row.id, row.displayName] as const])),
  );
  return ({ directory, person }: Naming): string | null | undefined => {
    if (directory.teamFrom === "none") return undefined;
    const name =
      directory.teamFrom === "department"
        ? person?.user.department
        : [...(person?.groups ?? [])].flatMap((id) => names.get(id) ?? []).sort()[0];
    return teamNameSchema.safeParse(name).data ?? null;
  };
};

type Means = {
  teamId: (name: string) => number | null;
  reserved: () => Awaited<ReturnType<typeof reserve>>[number] | undefined;
  hasRoom: boolean;
  now: string;
};

/** The writes of one address. `waits`: for a seat from now on. */
const writesOf = (
  org: number,
  { email, row, namings, isForgotten, strays, task: ownTask, domain, watched }: Look,
  said: ReturnType<typeof saidOf>,
  decision: Decision,
  { teamId, reserved, hasRoom, now }: Means,
): {
  email: EmailWrites | undefined;
  also: Write[];
  deeds: Deed[];
  waits: boolean;
  outside: Map<number, number>;
  /** Rules have to look at its findings again. */
  isRechecked: boolean;
} => {
  const waits = (decision.add === true || decision.enable === true) && !hasRoom;
  const ownerName = ownerNameSchema.safeParse(decision.ownerName).data;
  const team =
    decision.team === undefined ? undefined : decision.team === null ? null : teamId(decision.team);
  const { person } = watched ?? {};
  const ofNobody = { directoryId: null, person: person?.leftAt === undefined ? undefined : person };
  const ofDirectory = said
    ? { directoryId: said.directoryId, person: said.facts }
    : isForgotten
      ? ofNobody
      : undefined;
  const id = decision.add === true ? reserved() : undefined;
  const isActive = decision.disable === true ? false : decision.enable === true && !waits ? true : undefined;
  const writes =
    id !== undefined && domain !== undefined
      ? additionOf(
          org,
          id,
          { email, ownerName: ownerName ?? null, teamId: team ?? null, isActive: !waits, named: ofDirectory },
          domain,
        )
      : watched && changeOf(org, watched, { isActive, ownerName, teamId: team, named: ofDirectory }, domain);
  // Who is adopted has mostly the directory's name already.
  const isRenamed =
    watched !== undefined &&
    ((ownerName !== undefined && ownerName !== watched.ownerName) ||
      (team !== undefined && team !== emails.groupOf(watched).teamId));
  const deeds: Deed[] = [
    ...(decision.add === true ? (["added"] as const) : []),
    ...(isActive === true ? (["enabled"] as const) : []),
    ...(isActive === false ? (["disabled"] as const) : []),
    ...(isRenamed ? (["renamed"] as const) : []),
  ];
  const waitsSince = waits ? (row?.waitsSince ?? now) : undefined;
  const before = row?.outside ?? new Set<number>();
  const isOutside = said?.isActive === true && watched === undefined && domain?.verified !== true;
  const after = new Set(isOutside ? namings.map(({ directory }) => directory.id) : []);
  const outside = new Map<number, number>();
  for (const id of before) if (!after.has(id)) outside.set(id, -1);
  for (const id of after) if (!before.has(id)) outside.set(id, 1);
  const named = {
    ...decision.named,
    ...(waitsSince !== undefined && { waitsSince }),
    ...(after.size > 0 && { outside: after }),
  };
  const history = [...deeds.map((did) => ({ at: now, did })), ...(row?.history ?? [])].slice(0, mostHistory);
  const key = keys.namedAddress(org, domainOf(email), email);
  const asItWas = row === undefined ? absent : asRead({ mark: row.mark });
  const isNamed = Object.keys(named).length > 0;
  const rowWrites: Write[] = isNamed
    ? [
        {
          put: { ...key, ...named, mark: randomUUID(), ...(history.length > 0 && { history }) },
          if: asItWas,
        },
      ]
    : row === undefined
      ? []
      : [{ delete: key, if: asItWas }];
  const facts = ofDirectory?.person;
  const isRechecked =
    watched !== undefined &&
    ofDirectory !== undefined &&
    (facts?.leftAt !== person?.leftAt || facts?.passwordChangedAt !== person?.passwordChangedAt);
  return {
    isRechecked,
    email: writes,
    also: [
      ...(isRechecked ? rules.recheck(org, watched) : []),
      ...rowWrites,
      ...strays.map(({ pk, sk }): Write => ({ delete: { pk, sk } })),
      ...(ownTask === undefined ? [] : [doneWrite(ownTask)]),
      ...(row?.waitsSince !== undefined && row.waitsSince !== waitsSince
        ? [{ delete: keys.seatWait(org, row.waitsSince, email) }]
        : []),
      ...(waitsSince !== undefined && waitsSince !== row?.waitsSince
        ? [{ put: keys.seatWait(org, waitsSince, email) }]
        : []),
    ],
    deeds,
    waits,
    outside,
  };
};
