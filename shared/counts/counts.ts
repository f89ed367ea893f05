/**
 * Counts of an organization that no list keeps: findings by month and state, and by breach, state and
 * severity; those that are not history by breach and state; breached e-mails; and deliveries that were given
 * up, by channel. A transaction that changes one of these adds the difference to one of a few rows. The sum
 * of all rows is the count. So counts are exact, and simultaneous transactions rarely meet in a row. Reading
 * costs the same with any number of findings.
 */

import type { Write } from "../aws/table/condition.ts";
import { keys, padded } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { blockOf } from "../lists/blocks.ts";
import * as news from "./news.ts";

/** A finding that is detected (no `from`), acknowledged, reopened or deleted (no `to`), or changes its severity. */
export type CountedChange = {
  id: number;
  breachId: number;
  /** ISO 8601. */
  firstDetectedAt: string;
  from?: CountedState | undefined;
  to?: CountedState | undefined;
};

/** `severity`: a level (hibp/severity.ts). The others: as of a finding's group (findings/record.ts). */
type CountedState = {
  acknowledged: boolean;
  severity: number;
  isHistory: boolean;
  told: boolean;
  endedBy: number;
  /** When a rule has ended it (ISO 8601); wanted where `endedBy` or this changes. */
  endedAt?: string | undefined;
};

export type Changes = {
  findings?: readonly CountedChange[];
  /** By how much the number of active e-mails with a finding changes. */
  breachedEmails?: number;
  /** For each e-mail with new findings that are not history, when they were detected. */
  people?: readonly string[];
  /** By how much the number of deliveries that were given up changes. */
  notDelivered?: { channelId: number; by: number; deliveryId: number };
};

export type StateCount = { open: number; acknowledged: number };
export type Counts = {
  /** By `YYYY-MM` of `firstDetectedAt`; the sum over all months is the number of findings. */
  byMonth: Map<string, StateCount>;
  /** By breach id; without breaches that have no findings any more. */
  byBreach: Map<number, StateCount>;
  /** The same by severity: of each breach one, unless its findings are about to follow a change of it. */
  byLevel: Map<number, Map<number, StateCount>>;
  /** By breach id: those that are not history, without breaches that have none. */
  sinceFirstCheck: Map<number, StateCount>;
  /** Active e-mails with a finding. */
  breachedEmails: number;
  /** Deliveries that were given up, by channel id. */
  notDelivered: Map<number, number>;
};

/**
 * The counts are divided among so many rows. So the workers of a scan, who mostly write to different blocks,
 * seldom wait for each other.
 */
const rowCount = 8;

export const places: readonly number[] = Array.from({ length: rowCount }, (_, place) => place);

/** The row that counts changes of the findings of this block. */
export const placeOf = (block: number): number => block % rowCount;

/** A row that counts the findings of these breaches has about 1 KB, which is what a write unit takes. */
const breachesPerRow = 16;

const rowOfBreach = (breachId: number): string => `BREACH#${padded(Math.floor(breachId / breachesPerRow))}`;

/**
 * Attribute names: `2026-11-0` and `2026-11-1` are the open and acknowledged findings of a month. `12-0-3`
 * and `12-1-3` are those of breach 12 with the severity 3. `since-12-0` and `since-12-1` are those of breach
 * 12 that are not history, which most are: so few breaches have these.
 */
const monthAttribute = (firstDetectedAt: string, { acknowledged }: CountedState): string =>
  `${firstDetectedAt.slice(0, 7)}-${acknowledged ? 1 : 0}`;
const breachAttribute = (breachId: number, { acknowledged, severity }: CountedState): string =>
  `${breachId}-${acknowledged ? 1 : 0}-${severity}`;
const sinceFirstCheckAttribute = (breachId: number, { acknowledged }: CountedState): string =>
  `since-${breachId}-${acknowledged ? 1 : 0}`;
const breachedAttribute = "breached";
const notDeliveredPrefix = "notDelivered-";

/** The differences that changes make, by attribute. */
export const differencesOf = (changes: Changes): Map<string, number> => {
  const { findings = [], breachedEmails = 0, notDelivered } = changes;
  const differences = new Map<string, number>([[breachedAttribute, breachedEmails]]);
  if (notDelivered !== undefined) {
    differences.set(`${notDeliveredPrefix}${notDelivered.channelId}`, notDelivered.by);
  }
  const add = (name: string, by: number): void => {
    differences.set(name, (differences.get(name) ?? 0) + by);
  };
  for (const { breachId, firstDetectedAt, from, to } of findings) {
    for (const [state, by] of [
      [from, -1],
      [to, 1],
    ] as const) {
      if (state === undefined) continue;
      add(monthAttribute(firstDetectedAt, state), by);
      add(breachAttribute(breachId, state), by);
      if (!state.isHistory) add(sinceFirstCheckAttribute(breachId, state), by);
    }
  }
  return new Map([...differences].filter(([, by]) => by !== 0));
};

/**
 * The writes that count changes, for the transaction that makes them; none when no count moves. What is new
 * is counted besides (news.ts). `writes` counts the writes to the row, so that an audit sees that nothing
 * moved while it read.
 */
export const writes = (org: number, changes: Changes): Write[] => {
  const { findings: [first] = [], notDelivered } = changes;
  const place = placeOf(blockOf(first?.id ?? notDelivered?.deliveryId ?? 1));
  return [...additions(org, String(place), changes), ...news.writes(org, place, changes)];
};

/**
 * The same for one finding that is acknowledged by itself, in a row of few breaches: the other rows count all
 * breaches, and a write costs by the size of its row.
 */
export const writesOfOne = (org: number, change: CountedChange): Write[] => [
  ...additions(org, rowOfBreach(change.breachId), { findings: [change] }),
  ...news.writes(org, placeOf(blockOf(change.id)), { findings: [change] }),
];

const additions = (org: number, row: string, changes: Changes): Write[] => {
  const differences = differencesOf(changes);
  const add = { ...Object.fromEntries(differences), writes: 1 };
  return differences.size === 0 ? [] : [{ update: keys.counts(org, row), add }];
};

/** Half the read units, and what was counted a moment ago can be missing. */
type ReadOptions = { consistent?: boolean };

/** The rows added up by attribute, `writes` included. */
export const readSums = async (org: number, options: ReadOptions = {}): Promise<Map<string, number>> => {
  const sums = new Map<string, number>();
  for (const row of await table.queryWire({ pk: keys.counts(org, "").pk, ...options })) {
    // Copies of rows with a thousand attributes would take half of the time.
    for (const name in row) {
      if (name !== "pk" && name !== "sk") sums.set(name, (sums.get(name) ?? 0) + Number(row[name]?.N));
    }
  }
  return sums;
};

/**
 * All counts. A read unit for each 4 KB: about 18 bytes a breach in each of eight rows, and 1 KB for each row
 * of few breaches.
 */
export const read = async (org: number, options: ReadOptions = {}): Promise<Counts> =>
  countsOf(await readSums(org, options));

const countsOf = (sums: ReadonlyMap<string, number>): Counts => {
  const counts: Counts = {
    byMonth: new Map(),
    byBreach: new Map(),
    byLevel: new Map(),
    sinceFirstCheck: new Map(),
    breachedEmails: sums.get(breachedAttribute) ?? 0,
    notDelivered: new Map(),
  };
  const addState = <K>(by: Map<K, StateCount>, key: K, state: string | undefined, count: number): void => {
    const ofKey = by.get(key) ?? { open: 0, acknowledged: 0 };
    ofKey[state === "1" ? "acknowledged" : "open"] += count;
    by.set(key, ofKey);
  };
  for (const [name, count] of sums) {
    const [, month, monthState] = /^(\d{4}-\d\d)-([01])$/.exec(name) ?? [];
    const [, breach, breachState, level] = /^(\d+)-([01])-(\d)$/.exec(name) ?? [];
    const [, newBreach, newState] = /^since-(\d+)-([01])$/.exec(name) ?? [];
    if (month !== undefined) addState(counts.byMonth, month, monthState, count);
    else if (count === 0) continue;
    else if (breach !== undefined) {
      const ofBreach = counts.byLevel.get(Number(breach)) ?? new Map<number, StateCount>();
      counts.byLevel.set(Number(breach), ofBreach);
      addState(ofBreach, Number(level), breachState, count);
      addState(counts.byBreach, Number(breach), breachState, count);
    } else if (newBreach !== undefined) addState(counts.sinceFirstCheck, Number(newBreach), newState, count);
    else if (name.startsWith(notDeliveredPrefix))
      counts.notDelivered.set(Number(name.slice(notDeliveredPrefix.length)), count);
  }
  return counts;
};

/** Findings that the first checks of e-mails brought: how many in all, how many open, and of how many breaches. */
export const historyOf = ({ byBreach, sinceFirstCheck }: Counts) => {
  const history = { findings: 0, open: 0, breaches: 0 };
  for (const [breachId, { open, acknowledged }] of byBreach) {
    const since = sinceFirstCheck.get(breachId) ?? { open: 0, acknowledged: 0 };
    const count = open + acknowledged - since.open - since.acknowledged;
    history.findings += count;
    history.open += open - since.open;
    history.breaches += count > 0 ? 1 : 0;
  }
  return history;
};

/** The sum over all months, which is the number of findings by state. */
export const totalOf = ({ byMonth }: Counts): StateCount => {
  const total: StateCount = { open: 0, acknowledged: 0 };
  for (const { open, acknowledged } of byMonth.values()) {
    total.open += open;
    total.acknowledged += acknowledged;
  }
  return total;
};
