/** Compares the rows of an organization that belong to no list. */
import * as users from "../../access/members/user.ts";
import * as channels from "../../alerting/channels/channel.ts";
import {
  asRead,
  type Condition,
  condition,
  exists,
  type Item,
  type Write,
} from "../../aws/table/condition.ts";
import { type DueKind, dueShard, type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  newLock,
} from "../../findings/acknowledgements/record.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import type { ProvenDomain } from "../../monitoring/domains/proof-record.ts";
import { emails } from "../../monitoring/emails/record.ts";
import * as teams from "../../monitoring/teams/team.ts";
import type { ScanLock } from "../../scanning/lock.ts";
import { scans } from "../../scanning/record.ts";
import { compare, compareDue } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";
import type { Context } from "./list.ts";
import { isOpen } from "./members.ts";
import { compareNames } from "./names.ts";

/** Audits all of them; gives how many rows of each kind there are. `openScans`: ids of scans that were in progress. */
export const auditOrganization = async (
  { org, inspector }: Context,
  openScans: readonly number[],
): Promise<{ domains: number; channels: number; removals: number; acknowledgements: number }> => {
  const rowsOf = async (key: Key): Promise<number> =>
    (await table.query({ pk: key.pk, project: ["pk"] })).length;
  await inspector.check(() => compareCounters(org));
  await inspector.check(() => compareAllNames(org));
  await inspector.check(() => compareRemovals(org));
  await inspector.check(() => compareScanLock(org, openScans));
  await inspector.check(() => compareAcknowledgements(org));
  return {
    domains: (await domains.list(org)).length,
    channels: (await channels.list(org)).length,
    removals: (await rowsOf(keys.removal(org, 0))) + (await rowsOf(keys.channelRemoval(org, 0))),
    acknowledgements: await rowsOf(keys.acknowledgement(org, 0)),
  };
};

/** Removed ones too. */
const everyUser = (org: number): Promise<users.User[]> => table.query({ pk: keys.user(org, 0).pk });

/** The organization must be in the list of all; its channels, for the limit of 20, and its users must be counted. */
const compareCounters = async (org: number): Promise<Problem[]> => {
  const fixed = [keys.organizations(org), keys.channelCount(org), keys.membership(org)];
  const [index, channelCount, membership] = await table.getMany(fixed);
  const all = await everyUser(org);
  const idsOf = (isRemoved: boolean): Set<number> | undefined => {
    const ids = all.filter(({ removed }) => removed === isRemoved).map(({ id }) => id);
    return ids.length === 0 ? undefined : new Set(ids);
  };
  const isThere = { check: keys.organization(org), if: exists };
  return [
    ...(await compare(
      { kind: "organization", id: org },
      {
        key: keys.organizations(org),
        row: index,
        holds: { id: org },
        given: [isThere],
        says: "it is missing in the list of organizations",
      },
    )),
    ...(await compare(
      { kind: "channel count", id: org },
      {
        key: keys.channelCount(org),
        row: channelCount,
        holds: { channels: (await channels.list(org)).length },
      },
    )),
    ...(await compare(
      { kind: "members", id: org },
      {
        key: keys.membership(org),
        row: membership,
        holds: { members: idsOf(false), removed: idsOf(true) },
        reliesOn: ["members", "removed"],
      },
    )),
  ];
};

/** The seats that are counted must be the active e-mails of the directory. */
export const compareSeats = async (org: number): Promise<Problem[]> => {
  const key = keys.seats(org);
  const row = await table.get(key);
  const active = emails.sum(await emails.directory(org), ({ isActive }) => isActive);
  return compare({ kind: "seats", id: org }, { key, row, holds: { active } });
};

/** The names of domains and teams, whose domains are proved, and the addresses of users. */
const compareAllNames = async (org: number): Promise<Problem[]> => {
  const listed = async (key: Key) => {
    const rows = await table.query<Key & { id: number }>({ pk: key.pk });
    return new Map(rows.map((row) => [row.sk, row]));
  };
  const single = async <Row>(names: string[], keyOf: (name: string) => Key) => {
    const rows = await table.getMany<Row>(names.map(keyOf));
    return new Map(names.map((name, at) => [name, rows[at]]));
  };
  const nameRows = [
    await listed(keys.domainName(org, "")),
    await listed(keys.teamName(org, "")),
    await listed(keys.userEmail(org, "")),
  ] as const;
  const allDomains = await domains.list(org);
  const allTeams = await teams.list(org);
  const allUsers = await everyUser(org);
  const signInKey = (email: string): Key => keys.signInAddress(email, org);
  const emailsOfUsers = allUsers.map(({ email }) => email);
  const signInRows = await single<{ userId: number }>(emailsOfUsers, signInKey);
  const proofs = await single<ProvenDomain>(
    allDomains.map(({ name }) => name),
    keys.provenDomain,
  );

  const named = <T extends { id: number }>(
    all: readonly T[],
    keyOf: (org: number, id: number) => Key,
    nameOf: (one: T) => string,
    ifThere: (one: T) => Condition = () => exists,
  ) =>
    all.map((one) => {
      const isThere = { check: keyOf(org, one.id), if: ifThere(one) };
      return { id: one.id, name: nameOf(one), isThere };
    });
  const ofUsers = named(
    allUsers.filter(({ removed }) => !removed),
    keys.user,
    ({ email }) => email,
    () => users.notRemoved,
  );
  const proved = named(
    allDomains.filter(({ verifiedBy }) => verifiedBy === "record"),
    keys.domain,
    ({ name }) => name,
    ({ verifiedBy }) => asRead({ verifiedBy }),
  );
  const isForeign = (name: string): boolean => (proofs.get(name)?.organizationId ?? org) !== org;
  const problems = await Promise.all([
    compareNames("domain", {
      claims: named(allDomains, keys.domain, ({ name }) => name),
      rows: nameRows[0],
      keyOf: (name) => keys.domainName(org, name),
      attribute: "id",
    }),
    compareNames("team", {
      claims: named(
        allTeams,
        keys.team,
        ({ name }) => teams.comparable(name),
        ({ name }) => asRead({ name }),
      ),
      rows: nameRows[1],
      keyOf: (name) => keys.teamName(org, name),
      attribute: "id",
    }),
    compareNames("user", {
      claims: ofUsers,
      rows: nameRows[2],
      keyOf: (email) => keys.userEmail(org, email),
      attribute: "id",
    }),
    compareNames("sign-in", {
      claims: ofUsers,
      rows: signInRows,
      keyOf: signInKey,
      attribute: "userId",
      also: { organizationId: org },
    }),
    compareNames("domain proof", {
      claims: proved.filter(({ name }) => !isForeign(name)),
      rows: new Map([...proofs].filter(([name]) => !isForeign(name))),
      keyOf: keys.provenDomain,
      attribute: "domainId",
      also: { organizationId: org },
    }),
  ]);
  const foreign = proved.filter(({ name }) => isForeign(name));
  return [
    ...problems.flat(),
    ...foreign.map(({ id, name }) => ({
      kind: "domain proof",
      id,
      topic: "proof",
      says: `it is proved, and its name is that of domain ${proofs.get(name)?.domainId}`,
      advice: `Unverify one of the two: "domain unverify".`,
    })),
  ];
};

/** A removal of an e-mail or a channel must be due, and an e-mail that exists must have none. */
const compareRemovals = async (org: number): Promise<Problem[]> => {
  const problems: Problem[] = [];
  for (const [kind, keyOf, due] of [
    ["removal", keys.removal, "REMOVAL"],
    ["channel removal", keys.channelRemoval, "CHANNEL-REMOVAL"],
  ] as const) {
    for (const row of await table.query<Key & { dueAt?: string }>({ pk: keyOf(org, 0).pk })) {
      const id = Number(row.sk);
      const subject = { kind, id };
      const key = keyOf(org, id);
      problems.push(...(await compareDue(subject, { key, row, shard: dueShard(due, id) })));
      if (kind === "channel removal" || (await emails.get(org, id)) === undefined) continue;
      const given = [{ check: emails.key(org, id), if: exists }];
      const says = "the e-mail is there although it is being removed";
      problems.push(...(await compare(subject, { key, row, holds: "no row", given, says })));
    }
  }
  const key = keys.scanRequest(org);
  const row = await table.get<{ dueAt?: string }>(key);
  const subject = { kind: "scan request", id: org };
  return row === undefined
    ? problems
    : [...problems, ...(await compareDue(subject, { key, row, shard: dueShard("SCAN-REQUEST", org) }))];
};

type Work = {
  kind: string;
  due: DueKind;
  key: Key;
  lock: ({ id: number } & Item) | undefined;
  /** What is in progress: for a transaction, that it still is. */
  inProgress: ReadonlyMap<number, Write>;
  newLock: (id: number) => Item;
};

/** A lock must name work in progress and be due; work in progress must have the lock, with which the sweep finds it. */
const compareLock = async (org: number, work: Work): Promise<Problem[]> => {
  const { kind, due, key, lock, inProgress, newLock } = work;
  const subject = { kind: `${kind} lock`, id: org };
  const { id: holder, ...row } = lock ?? {};
  const problems: Problem[] = [];
  if (lock !== undefined && !inProgress.has(lock.id)) {
    const says = `it names ${kind} ${holder}, which is not in progress`;
    problems.push(...(await compare(subject, { key, row, holds: "no row", says })));
  } else if (lock !== undefined) {
    problems.push(...(await compareDue(subject, { key, row, shard: dueShard(due, org) })));
  }
  for (const [id, isInProgress] of inProgress) {
    if (id === holder) continue;
    const says = "it is in progress without the lock";
    const advice = `Repair again when ${kind} ${holder}, which has the lock, is over.`;
    const created = { key, row: undefined, holds: newLock(id), given: [isInProgress], says };
    if (lock === undefined) problems.push(...(await compare({ kind, id }, created)));
    else problems.push({ kind, id, topic: "lock", says, advice });
  }
  return problems;
};

const compareScanLock = async (org: number, openScans: readonly number[]): Promise<Problem[]> => {
  const key = keys.scanLock(org);
  const lock = await table.get<ScanLock & Item>(key);
  const ids = new Set([...openScans, ...(lock === undefined ? [] : [lock.scanId])]);
  const rows = (await scans.getMany(org, [...ids])).flatMap((row) => (row && isOpen(row) ? row : []));
  return compareLock(org, {
    kind: "scan",
    due: "SCAN",
    key,
    lock: lock && { ...lock, id: lock.scanId },
    inProgress: new Map(
      rows.map(({ id, group }) => [
        id,
        { check: scans.key(org, id), if: condition("#group = :group", { group }) },
      ]),
    ),
    newLock: (scanId): ScanLock => {
      const now = new Date().toISOString();
      return {
        scanId,
        fencingToken: 0,
        renewedAt: now,
        fruitlessSweeps: 0,
        progress: "",
        dueShard: dueShard("SCAN", org),
        dueAt: now,
      };
    },
  });
};

/** Requests to acknowledge many findings; one cannot have done more than there was to do. */
const compareAcknowledgements = async (org: number): Promise<Problem[]> => {
  const key = keys.acknowledgementLock(org);
  const lock = await table.get<AcknowledgementLock & Item>(key);
  const rows = await table.query<AcknowledgementRow>({ pk: keys.acknowledgement(org, 0).pk });
  const running = rows.filter(({ status }) => status === "running");
  const isRunning = condition("#status = :running", { running: "running" });
  const locks = await compareLock(org, {
    kind: "acknowledgement",
    due: "ACKNOWLEDGEMENT",
    key,
    lock: lock && { ...lock, id: lock.acknowledgementId },
    inProgress: new Map(
      running.map(({ id }) => [id, { check: keys.acknowledgement(org, id), if: isRunning }]),
    ),
    // It starts over: findings that it has acknowledged already are acknowledged and counted again.
    newLock: (id) => newLock(org, id),
  });
  const excessive = rows.flatMap(({ id, matching, acknowledged }) => {
    const soFar = acknowledged ?? (lock?.acknowledgementId === id ? lock.acknowledged : 0);
    if (soFar <= matching) return [];
    const says = `it has acknowledged ${soFar} findings, more than the ${matching} that matched`;
    const advice = "The findings themselves are compared one by one: see whether they differ.";
    return [{ kind: "acknowledgement", id, topic: "progress", says, advice }];
  });
  return [...locks, ...excessive];
};
