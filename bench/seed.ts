/**
 * An organization of a given size, as rows of the table: what the service would have written had it watched these
 * addresses for 500 days. Every counter agrees with its members, and what the e-mails hold is exactly what `accounts` says,
 * so that a scan finds nothing new.
 */
import { type Action, categoryOf } from "../shared/activity/actions.ts";
import { entries } from "../shared/activity/activity.ts";
import type { Breach } from "../shared/catalog/schema.ts";
import { rowOfEmail } from "../shared/emails/own-check.ts";
import { type EmailRow, emails } from "../shared/emails/record.ts";
import { type FindingRow, findings } from "../shared/findings/record.ts";
import type { Actor } from "../shared/organizations/actor.ts";
import type { ApiKey } from "../shared/organizations/api-key.ts";
import type { Domain } from "../shared/organizations/domain.ts";
import type { Organization } from "../shared/organizations/organization.ts";
import { hashOf, mintApiKey } from "../shared/organizations/secret.ts";
import type { Team } from "../shared/organizations/team.ts";
import type { User } from "../shared/organizations/user.ts";
import { scans } from "../shared/scans/record.ts";
import { blockOf, blockSize, firstIdOf, type Reserved } from "../shared/table/blocks.ts";
import type { Item } from "../shared/table/condition.ts";
import type { MemberWrite } from "../shared/table/counted-list.ts";
import { textsOf } from "../shared/table/directory.ts";
import { type CounterKind, type Key, keys, type ListKind } from "../shared/table/keys.ts";
import { marksOf } from "../shared/table/marks.ts";
import { blocksPerRollup, blocksWorthRollup, markedFacets, rolledUpKinds } from "../shared/table/roll-up.ts";
import { activeBilling } from "../test/organizations/billing.ts";

export type Row = Key & Item;

export type Size = {
  findings: number;
  addresses: number;
};

/** An organization of this many findings has as many addresses, but at most 100,000. */
export const sizeOf = (findings: number): Size => ({ findings, addresses: Math.min(findings, 100_000) });

/** The one organization of a seeded table and what to ask it for. */
export type Seeded = Size & {
  org: number;
  apiKeys: string[];
  /** Names; the first two have about half of the addresses each, the third one in a hundred. */
  domains: string[];
  /** `bulk` and `second` found 45 % of all findings each, 20 newer scans found the rest. */
  scanIds: { bulk: number; second: number; newest: number };
  activityCount: number;
  scanCount: number;
  rowCount: number;
};

const org = 1;
const days = 500;
/** One a day; not a multiple of the block size, so that the first scans of a run do not all begin a block. */
const scanCount = 490;
const bulkScan = 1;
const secondScan = 200;
const smallScans = Array.from({ length: 20 }, (_, index) => 431 + 3 * index);
/** Those who were checked first are in up to 400 breaches; every newer scan found one breach of its own. */
const oldBreaches = 400;
const breachCount = oldBreaches + smallScans.length;
const keyCount = 60;
const teamCount = 4;
const actor: Actor = { type: "user", id: 1, label: "security@seeded.example" };

export const domainNames = ["one.seeded.example", "two.seeded.example", "three.seeded.example"];

export const addressOf = (index: number): string =>
  `${firstNames[index % firstNames.length]}.${lastNames[(index * 7) % lastNames.length]}.${index}@${domainNames[domainOf(index)]}`;

const firstNames = ["ada", "grace", "alan", "edsger", "barbara", "katherine", "john", "margaret"];
const lastNames = ["lovelace", "hopper", "turing", "dijkstra", "liskov", "johnson", "mccarthy"];

/** Index of the domain of an address: 50 %, 49 % and 1 %, mixed. */
const domainOf = (index: number): number => (index % 100 === 99 ? 2 : index % 2);

export const breachName = (id: number): string => `Seeded${String(id).padStart(3, "0")}`;

/** A breach as Have I Been Pwned lists it. */
export const upstreamBreach = (id: number) => ({
  Name: breachName(id),
  Title: `Seeded breach ${id}`,
  Domain: `seeded-${id}.example`,
  BreachDate: "2020-02-02",
  AddedDate: "2020-03-03T00:00:00Z",
  ModifiedDate: "2020-03-03T00:00:00Z",
  PwnCount: 1_234_567,
  Description: `In February 2020, the invented service <a href="https://seeded-${id}.example">Seeded ${id}</a> had a data breach. ${"The data was later found on a forum, with addresses, names and salted hashes of passwords. ".repeat(4)}`,
  DataClasses: ["Email addresses", "Names", "Passwords", "Phone numbers", "Physical addresses"],
  IsVerified: true,
  IsFabricated: false,
  IsSensitive: false,
  IsRetired: false,
  IsSpamList: false,
  IsMalware: false,
  IsSubscriptionFree: false,
  IsStealerLog: false,
  LogoPath: "",
  Attribution: null,
});

export const upstreamCatalog = () =>
  Array.from({ length: breachCount }, (_, index) => upstreamBreach(index + 1));

type Found = { address: number; breach: number; scan: number };

/** Every finding, oldest first. Those of one scan follow the addresses, as the service writes them. */
const found = function* ({ findings: total, addresses }: Size): Generator<Found> {
  const held = new Uint8Array(addresses);
  const small = Math.floor(total / 10 / smallScans.length);
  const second = Math.floor(total * 0.45);
  const bulk = total - second - small * smallScans.length;
  for (const [scan, count] of [
    [bulkScan, bulk],
    [secondScan, second],
  ] as const) {
    for (let index = 0; index < count; index++) {
      const address = Math.floor((index * addresses) / count);
      const before = held[address] ?? 0;
      held[address] = before + 1;
      yield { address, breach: 1 + ((address * 7 + before) % oldBreaches), scan };
    }
  }
  for (const [position, scan] of smallScans.entries()) {
    for (let index = 0; index < small; index++) {
      const address = (Math.floor((index * addresses) / small) + position) % addresses;
      yield { address, breach: oldBreaches + 1 + position, scan };
    }
  }
};

/** Of the bulk all but 0.2 % of everything, of the second 1 % of everything, and so much of the rest that it is half in all. */
const isAcknowledged = (scan: number, position: number): boolean => {
  if (scan === bulkScan) return position % 225 !== 100;
  if (scan === secondScan) return position % 45 === 20;
  return position % 50 < 21;
};

/** Address to names of its breaches, in Have I Been Pwned's words. */
export const accountsOf = (size: Size): Record<string, string[]> => {
  const accounts: Record<string, string[]> = {};
  for (const { address, breach } of found(size)) {
    const name = addressOf(address);
    accounts[name] ??= [];
    accounts[name].push(breachName(breach));
  }
  return accounts;
};

/** Counts what the members of a list move, and gives its directory, head and counter rows in the end. */
const countMembers = (kind: ListKind) => {
  const blocks = new Map<number, { from: string; members: Map<string, number[]> }>();
  let head: { block: number; from: string; at: string; tag: number; tags: number; id: number } | undefined;
  return {
    /** The place of the next member; ids are consecutive from 1. */
    reserve: (createdAt: string, tag = 0): Reserved => {
      const id = (head?.id ?? 0) + 1;
      const block = blockOf(id);
      head =
        head?.block === block
          ? { ...head, id, at: createdAt, tag, tags: head.tags + (tag === head.tag ? 0 : 1) }
          : { block, id, from: createdAt, at: createdAt, tag, tags: 1 };
      return { id, createdAt, block, blockFrom: head.from };
    },
    /** The row of an insert. */
    row: ({ write, block, moves, blockFrom = "" }: MemberWrite): Row => {
      if (!("put" in write)) throw new Error("Seeds are inserts");
      const entry = blocks.get(block) ?? { from: blockFrom, members: new Map<string, number[]>() };
      blocks.set(block, entry);
      for (const { facet } of moves) {
        const ids = entry.members.get(facet);
        if (ids === undefined) entry.members.set(facet, [Number(write.put.id)]);
        else ids.push(Number(write.put.id));
      }
      return write.put as Row;
    },
    /** Notes a facet that members of the block had before: its counter stays, at 0. */
    passThrough: (block: number, facet: string): void => {
      const members = blocks.get(block)?.members;
      if (members !== undefined && !members.has(facet)) members.set(facet, []);
    },
    rest: function* (): Generator<Row> {
      let change = 0;
      const unrolled = [...blocks].map(([block, { from, members }]) => {
        const counts = new Map([...members].map(([facet, ids]) => [facet, ids.length]));
        const marks = new Map(
          markedFacets(counts).map((facet) => [facet, marksOf(block, members.get(facet) ?? [])]),
        );
        return { block, from, counts, marks };
      });
      // As the end of a scan does.
      while (rolledUpKinds.includes(kind) && unrolled.length > blocksWorthRollup) {
        const rows = unrolled.splice(0, Math.min(blocksPerRollup, unrolled.length - 1));
        change++;
        const last = rows.at(-1)?.block ?? 0;
        const { marks, ...texts } = textsOf(kind, rows);
        yield { ...keys.rollup(org, kind, last), change, ...texts };
        yield { ...keys.marks(org, kind, last), change, marks };
      }
      if (change > 0) {
        yield { ...keys.rollupsBegun(org, kind), change, at: new Date(0).toISOString() };
        yield { ...keys.rollupsEnded(org, kind), change };
      }
      for (const { block, from, counts } of unrolled) {
        yield { ...keys.directory(org, kind, block), from, writes: 1, ...Object.fromEntries(counts) };
      }
      if (head === undefined) return;
      const { block, from, at, tag, tags, id } = head;
      yield {
        ...keys.listHead(org, kind),
        block,
        next: id + 1,
        left: firstIdOf(block + 1) - id - 1,
        at,
        from,
        tag,
        tags,
      };
      yield { ...keys.counter(kind), value: block + 1 };
    },
  };
};

/**
 * All rows. `isScanned` false: addresses that no scan has looked at yet, and no findings. `apiKeys` are minted here, since
 * only their hashes are stored.
 */
export const seed = (
  size: Size,
  { isScanned = true, now = Date.now() }: { isScanned?: boolean; now?: number } = {},
): { seeded: Seeded; rows: () => Generator<Row> } => {
  const { addresses } = size;
  // As many as there are acknowledgments, or a little more.
  const activityCount = isScanned ? Math.max(size.findings / 2, Math.min(10_000, size.findings - 100)) : 0;
  const apiKeys = Array.from({ length: keyCount }, () => mintApiKey(org));
  const begin = now - days * 86_400_000;
  const at = (day: number, seconds = 0): string =>
    new Date(begin + day * 86_400_000 + seconds * 1000).toISOString();
  /** Scan 1 is of the first day, scan 490 of some days ago. */
  const scannedAt = (scan: number): string => at(scan, 60);
  const lastScan = isScanned ? scanCount : 0;
  const blocksOf = (members: number): number => Math.ceil(members / blockSize);
  const findingCount = isScanned ? size.findings : 0;
  const seeded: Seeded = {
    ...size,
    org,
    apiKeys,
    domains: domainNames,
    scanIds: { bulk: bulkScan, second: secondScan, newest: smallScans.at(-1) ?? 0 },
    activityCount,
    scanCount: lastScan,
    // Members and addresses; directories; the handful of single rows does not matter for progress.
    rowCount: 2 * addresses + findingCount + activityCount + blocksOf(addresses) + blocksOf(findingCount),
  };

  const rows = function* (): Generator<Row> {
    yield* organizationRows(at(0), apiKeys);
    yield {
      ...keys.seats(org),
      active: Array.from({ length: addresses }).filter((_, index) => isActive(index)).length,
    };
    for (const [index, name] of domainNames.entries()) {
      const id = index + 1;
      const domain: Domain = {
        id,
        name,
        verified: true,
        createdAt: at(0),
        planBy: lastScan,
        checkedBy: lastScan,
        checkedAt: isScanned ? scannedAt(lastScan) : null,
        ...(isScanned && { planAt: scannedAt(lastScan), planState: "checked", planBatch: 1, stale: {} }),
      };
      yield { ...keys.domainName(org, name), id };
      yield { ...keys.domain(org, id), ...domain };
    }
    yield* catalogRows();

    // What each e-mail holds, before the e-mails themselves.
    const held: Record<string, number>[] = Array.from({ length: addresses }, () => ({}));
    const open = new Uint16Array(addresses);
    const lastFound = new Uint16Array(addresses);
    const foundBy = new Map<number, number>();
    const findingList = countMembers("FINDING");
    for (const { address, breach, scan } of isScanned ? found(size) : []) {
      const position = foundBy.get(scan) ?? 0;
      foundBy.set(scan, position + 1);
      const acknowledged = isAcknowledged(scan, position);
      const reserved = findingList.reserve(at(scan, 120), scan);
      const finding: FindingRow = {
        emailId: address + 1,
        email: addressOf(address),
        domainId: domainOf(address) + 1,
        breachId: breach,
        firstDetectedAt: scannedAt(scan),
        ...(acknowledged && {
          acknowledgment: {
            at: at(scan, 7200),
            by: actor,
            resolution: "handled",
            reason: "Password changed",
          },
        }),
      };
      yield findingList.row(findings.put(org, reserved, { scanId: scan, acknowledged }, finding));
      if (acknowledged) {
        findingList.passThrough(reserved.block, findings.encode({ scanId: scan, acknowledged: false }));
      }
      const of = held[address];
      if (of !== undefined) of[breach] = reserved.id;
      if (!acknowledged) open[address] = (open[address] ?? 0) + 1;
      lastFound[address] = scan;
    }
    yield* findingList.rest();

    const disabled = new Map<number, Set<number>>();
    const emailList = countMembers("EMAIL");
    for (let index = 0; index < addresses; index++) {
      const email = addressOf(index);
      const reserved = emailList.reserve(at(0, 1));
      if (!isActive(index)) {
        const row = rowOfEmail(reserved.id);
        disabled.set(row, (disabled.get(row) ?? new Set()).add(reserved.id));
      }
      const lastScannedBy = isActive(index) ? (lastFound[index] ?? 0) : lastScan;
      const row: EmailRow = {
        email,
        ownerName: `Owner ${index}`,
        since: 0,
        lastScannedAt: lastScannedBy === 0 ? null : scannedAt(lastScannedBy),
        findings: held[index] ?? {},
        unacknowledged: open[index] ?? 0,
      };
      const facet = {
        domainId: domainOf(index) + 1,
        teamId: index % (teamCount + 1) === 0 ? null : index % (teamCount + 1),
        isActive: isActive(index),
      };
      yield { ...keys.address(org, email), emailId: reserved.id };
      yield emailList.row(emails.put(org, reserved, facet, row));
    }
    yield* emailList.rest();
    for (const [row, ids] of disabled) yield { ...keys.ownChecksOfEmails(org, row), ids };
    if (isScanned) yield* scanRows(at, addresses, foundBy);
    if (isScanned) yield* activityRows(activityCount, at);
  };
  return { seeded, rows };
};

/** One in 500 is disabled. */
const isActive = (index: number): boolean => index % 500 !== 250;

const organizationRows = function* (createdAt: string, apiKeys: readonly string[]): Generator<Row> {
  const organization: Organization = {
    id: org,
    name: "Seeded",
    createdAt,
    billing: activeBilling,
    scanEvery: "never",
  };
  yield { ...keys.organization(org), ...organization };
  yield { ...keys.organizations(org), id: org };
  const user: User = { id: actor.id ?? 0, email: actor.label, name: null, createdAt, removed: false };
  yield { ...keys.user(org, user.id), ...user };
  yield { ...keys.userEmail(org, user.email), id: user.id };
  yield { ...keys.membership(org), members: new Set([user.id]) };
  for (const [index, secret] of apiKeys.entries()) {
    const row: ApiKey = { id: index + 1, label: `Bench ${index + 1}`, createdAt, revokedAt: null };
    yield { ...keys.apiKey(org, hashOf(secret)), ...row };
  }
  for (let id = 1; id <= teamCount; id++) {
    const team: Team = { id, name: `Team ${id}`, createdAt };
    yield { ...keys.team(org, id), ...team };
  }
  const drawn: Partial<Record<CounterKind, number>> = {
    ORGANIZATION: org,
    DOMAIN: domainNames.length,
    TEAM: teamCount,
    USER: user.id,
    KEY: apiKeys.length,
    BREACH: breachCount,
  };
  for (const [kind, value] of Object.entries(drawn)) yield { ...keys.counter(kind as CounterKind), value };
};

/** As a scan leaves them that met the breaches before the first sync of the catalog, which announces nothing. */
const catalogRows = function* (): Generator<Row> {
  for (let id = 1; id <= breachCount; id++) {
    const { Name, Title, Domain, BreachDate, DataClasses, PwnCount, Description } = upstreamBreach(id);
    const breach: Breach = {
      id,
      name: Name,
      title: Title,
      domain: Domain,
      breachDate: BreachDate,
      dataClasses: DataClasses,
      pwnCount: PwnCount,
      description: Description,
    };
    yield { ...keys.breach(id), ...breach };
    yield { pk: keys.breachNames().pk, sk: `NAME#${Name}`, id };
  }
};

type At = (day: number, seconds?: number) => string;

const scanRows = function* (at: At, addresses: number, foundBy: ReadonlyMap<number, number>): Generator<Row> {
  const list = countMembers("SCAN");
  for (let scan = 1; scan <= scanCount; scan++) {
    const failed = scan % 50 === 25;
    const type = scan === bulkScan ? "manual" : scan === secondScan ? "catalog_triggered" : "scheduled";
    yield list.row(
      scans.put(
        org,
        list.reserve(at(scan)),
        { type, status: failed ? "failed" : "completed" },
        {
          startedAt: at(scan, 1),
          completedAt: at(scan, 300),
          errorMessage: failed ? "Have I Been Pwned did not answer" : null,
          findingsItemized: !failed,
          totalEmails: addresses,
          scannedEmails: failed ? 0 : addresses,
          failedEmails: failed ? addresses : 0,
          newBreachesFound: foundBy.get(scan) ?? 0,
          planned: !failed,
          remaining: {},
        },
      ),
    );
  }
  yield* list.rest();
};

const loggedActions: Action[] = [
  "finding.acknowledged",
  "scan.started",
  "finding.acknowledged",
  "scan.completed",
  "email.added",
];

const activityRows = function* (count: number, at: At): Generator<Row> {
  const list = countMembers("ACTIVITY");
  for (let index = 0; index < count; index++) {
    // One in a hundred is rare, so that a filter can match 1 %.
    const action = index % 100 === 99 ? "alert_config.updated" : (loggedActions[index % 5] ?? "email.added");
    const category = categoryOf[action];
    yield list.row(
      entries.put(
        org,
        list.reserve(at((days * index) / count, 10)),
        { category },
        { action, category, summary: `What happened at ${index}, in about as many words as usual`, actor },
      ),
    );
  }
  yield* list.rest();
};
